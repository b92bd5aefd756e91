// Cairn as the benchmarks see it: its public face, over a driver that costs nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cairn/allocator.h"
#include "driver/null_driver.h"

namespace cairn::bench {

class CairnContender {
 public:
  void* allocate(std::size_t size_bytes) { return allocator_.allocate({size_bytes}); }
  void free(void* pointer) { allocator_.free(pointer); }
  std::uint64_t misses() const {
    return static_cast<std::uint64_t>(allocator_.stats(0).num_device_alloc);
  }

 private:
  NullDriver driver_;
  Allocator allocator_{driver_};
};

}  // namespace cairn::bench
