// A CUDA runtime that does nothing, so that an allocator made for CUDA runs without a GPU. It
// defines the functions of cuda_runtime_api.h that cub::CachingDeviceAllocator uses; one of two
// files is linked: cuda_stubs.cc, as cheap as NullDriver, or counting_cuda_stubs.cc.
#pragma once

#include <cstdint>

namespace cairn::bench {

// How often cudaMalloc was called.
std::uint64_t stub_malloc_calls();

// Of counting_cuda_stubs.cc alone, since the last reset. Not thread-safe.
struct StubCounts {
  std::uint64_t malloc_calls = 0;
  std::uint64_t free_calls = 0;
  std::uint64_t event_calls = 0;  // Of any kind.
  std::uint64_t held_bytes = 0;
  std::uint64_t peak_held_bytes = 0;
};
const StubCounts& stub_counts();
void reset_stub_counts();

}  // namespace cairn::bench
