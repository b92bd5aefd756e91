// The World that targets run, by what the build is for: with hooks at level heap everything is
// checked after each statement; below that the hooks and the model's foretelling are all, so that
// far more statements are run.
// Thread safety: pure functions.
#pragma once

#include "invariants/catalogue/hook.h"
#include "testing/world.h"

namespace cairn::fuzz {

inline constexpr bool checks_all = invariants::level >= static_cast<int>(invariants::Cost::heap);

inline testing::WorldOptions fuzz_world() {
  testing::WorldOptions options;
  options.lets_others_in = true;
  options.checkers = checks_all;
  if constexpr (!checks_all) options.steps_between_maps = 4096;
  return options;
}

}  // namespace cairn::fuzz
