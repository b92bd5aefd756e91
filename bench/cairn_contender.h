// Cairn as the benchmarks see it: its public face, over a driver that costs nothing.
//
// What every contender has: allocate() on a stream, free(), record_stream() where the allocator
// knows of it, release() of all that is cached, and how often it asked its driver for memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/allocator.h"
#include "driver/null_driver.h"

namespace cairn::bench {

class CairnContender {
 public:
  static constexpr const char* name = "cairn";

  void* allocate(std::size_t size_bytes, Stream stream = nullptr) {
    return allocator_.allocate({size_bytes, 0, stream});
  }
  void free(void* pointer) { allocator_.free(pointer); }
  void record_stream(void* pointer, Stream stream) { allocator_.record_stream(pointer, stream); }
  void release() { allocator_.empty_cache(); }
  std::uint64_t misses() const {
    return static_cast<std::uint64_t>(allocator_.stats(0).num_device_alloc);
  }

 private:
  NullDriver driver_;
  Allocator allocator_{driver_};
};

}  // namespace cairn::bench
