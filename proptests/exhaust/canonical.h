// What of a World's state its future depends on, as one number: equal for two states from which the
// same can happen. Left out is what only accumulates (statistics, counters, names of events, the
// contents of unused ones); addresses, ages of segments, kernels and times count by their order
// alone, as nothing but their order is ever asked for; and with `renames_streams` it is the same
// whatever the streams are called.
//
// The model beside the allocator has no part in it: World holds that it does the same.
//
// Not thread-safe, as a World.
#pragma once

#include <cstdint>

#include "operations.h"

namespace cairn::exhaust {

std::uint64_t canonical(const Situation& now);

// The same as words, for tests and for whoever wants to know in what two states differ; streams are
// not renamed.
std::vector<std::uint32_t> canonical_words(const Situation& now);

}  // namespace cairn::exhaust
