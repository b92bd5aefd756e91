// Makes a Program that finds something shorter and plainer: statements are taken out, and what is
// left of them is simplified, as long as the same kind of thing is still found (delta debugging:
// Zeller and Hildebrandt, 2002).
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

// Plays a candidate. If it still fails as the original does: the candidate as it went, which may be
// shorter than what was asked; else none.
using StillFails = std::function<std::optional<Program>(const Program&)>;

// How often candidates are played at most.
inline constexpr int most_plays_to_shrink = 5000;

// REQUIRES: the program still fails.
Program shrink(const Program& program, const StillFails& still_fails,
               int most_plays = most_plays_to_shrink);

// For what World finds by itself, in this process. REQUIRES: play() of the program finds something.
Program shrink(const Program& program, const WorldOptions& options = {});

// What kind of thing was found, that two findings of one fault have in common: the id of an
// invariant, or the check that failed, without addresses and numbers. Empty where nothing was.
std::string bucket_of(const StepResult& result);

}  // namespace cairn::testing
