// Recorded traces as sequences of requests, on one device.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "bench/sequence.h"

namespace cairn::bench {

// Reads a Program, a table of allocation events with the map that stands beside it, a table of
// allocations by several threads (all in the order of the table), or a table of lifetimes, each
// gzipped or not. What was live at the beginning of a trace is allocated first. Kernels, waits and
// settings are left out; what threads do at the same time comes in the order of the text. The
// failure says why it cannot be one: a Program of several devices never is.
//
// A packing problem (NAME.CAPACITY.csv) has sizes in parts of a capacity; they are taken as KiB.
Result<Sequence, std::string> read_sequence(const std::string& path);

// Those of the files that can be one. Of each other `program` says on stderr why it is left out.
std::vector<Sequence> read_sequences(const char* program, const std::vector<std::string>& files);

}  // namespace cairn::bench
