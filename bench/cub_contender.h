// cub::CachingDeviceAllocator, which keeps what it freed in bins of powers of two: here from 512
// bytes up to 2^40, and as much as comes. The calls of CUDA are those of cuda_stubs.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cub/util_allocator.cuh>

#include "bench/cuda_stubs.h"

namespace cairn::bench {

class CubContender {
 public:
  static constexpr const char* name = "cub";

  void* allocate(std::size_t size_bytes, cudaStream_t stream = nullptr) {
    void* pointer = nullptr;
    if (allocator_.DeviceAllocate(0, &pointer, size_bytes, stream) != cudaSuccess) return nullptr;
    return pointer;
  }
  void free(void* pointer) { allocator_.DeviceFree(0, pointer); }
  // It has no such thing: the caller is to free only when other streams are done.
  void record_stream(void*, cudaStream_t) {}
  void release() { allocator_.FreeAllCached(); }
  std::uint64_t misses() const { return stub_malloc_calls(); }

 private:
  static constexpr unsigned growth = 2;
  static constexpr unsigned min_bin = 9;
  static constexpr unsigned max_bin = 40;

  cub::CachingDeviceAllocator allocator_{growth, min_bin, max_bin};
};

}  // namespace cairn::bench
