// What the peers are measured on: a sequence of requests, as a file that each of their programs
// reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/sequence.h"

namespace cairn::bench::peers {

// A free step has the size and the stream that its block was allocated with: some want to be told.
// A block may be allocated again after it was freed.
struct Workload {
  Sequence sequence;
  // Of the steps, those before this one make ready, and are not timed.
  std::size_t first_timed = 0;
  // What frees the blocks that are live at the end.
  std::vector<Step> last_frees;
  // The highest stream that a step names.
  std::uint16_t last_stream = 0;
  std::uint64_t peak_live_bytes = 0;

  std::span<const Step> preparing() const { return all().first(first_timed); }
  std::span<const Step> timed() const { return all().subspan(first_timed); }
  std::span<const Step> all() const { return sequence.steps; }
};

// Finds all but the steps and the first timed one, and completes the free steps.
void complete(Workload& workload);

// A file is for the programs of the build that wrote it, and named NAME.workload. False: it could
// not be written.
bool write_workload(const Workload& workload, const std::string& path);
// The failure says what is wrong with it.
Result<Workload, std::string> read_workload(const std::string& path);

}  // namespace cairn::bench::peers
