// Recorded traces as sequences of requests, on one device.
#pragma once

#include <string>

#include "base/result.h"
#include "bench/sequence.h"

namespace cairn::bench {

// Reads a Program, a table of allocation events with the map that stands beside it, a table of
// allocations by several threads (all in the order of the table), or a table of lifetimes, each
// gzipped or not. What was live at the beginning of a trace is allocated first. Kernels, waits and
// settings are left out. The failure says why it cannot be one.
//
// A packing problem (NAME.CAPACITY.csv) has sizes in parts of a capacity; they are taken as KiB.
Result<Sequence, std::string> read_sequence(const std::string& path);

}  // namespace cairn::bench
