// What the runtime's generations say, each in its own words, of a stream's capture: there is none.
#pragma once

#include <cstddef>

namespace cairn::simulator::runtime {

// Where the answers go; null where they are not wanted.
struct CaptureInfo {
  int* status;
  unsigned long long* id;
  void** graph;
  const void** dependencies;
  const void** edges;
  std::size_t* count;
};

// A cudaError_t.
int capture_info(void* stream, const CaptureInfo& info);

}  // namespace cairn::simulator::runtime
