// The promises that properties hold the allocator to, one a class; README.md says each in words.
// Thread safety: constants.
#pragma once

#include <vector>

#include "sight.h"

namespace cairn::testing {

// placement_promises.cc
extern const NamedPromise no_overlap;
extern const NamedPromise tiling;
extern const NamedPromise conservation;
extern const NamedPromise promised_state;

// pressure_promises.cc
extern const NamedPromise must_succeed;
extern const NamedPromise no_rung_left;
extern const NamedPromise memory_report;

// upkeep_promises.cc
extern const NamedPromise no_early_reuse;
extern const NamedPromise statistics;
extern const NamedPromise event_progress;
extern const NamedPromise all_returned;

std::vector<NamedPromise> all_promises();

}  // namespace cairn::testing
