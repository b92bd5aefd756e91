// A CUDA runtime that does nothing, as cheaply as NullDriver, so that an allocator made for CUDA
// runs without a GPU. It defines the functions of cuda_runtime_api.h that
// cub::CachingDeviceAllocator uses.
#pragma once

#include <cstdint>

namespace cairn::bench {

// How often cudaMalloc was called.
std::uint64_t stub_malloc_calls();

}  // namespace cairn::bench
