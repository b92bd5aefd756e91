// A program under libcairn_preload.so, on the simulated CUDA. Each test is a process of its own
// (ctest), for what the library knows is the process's: so a test can set the environment, before
// its first call of CUDA.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <string>

namespace cairn::preload {

inline constexpr std::size_t mebibyte = std::size_t{1} << 20;

inline void* malloc_of(std::size_t size) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, size), cudaSuccess);
  return memory;
}

inline void* malloc_async_of(std::size_t size, cudaStream_t stream) {
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocAsync(&memory, size, stream), cudaSuccess);
  return memory;
}

inline cudaStream_t new_stream(unsigned int flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  EXPECT_EQ(cudaStreamCreateWithFlags(&stream, flags), cudaSuccess);
  return stream;
}

inline bool is_idle(cudaStream_t stream) { return cudaStreamQuery(stream) == cudaSuccess; }

// Work on the stream that lasts long, and at its end writes to the memory.
void use_long(cudaStream_t stream, void* memory, std::size_t size);
// Until such work is done.
void let_time_go_by();

// What the judge has seen; it is told of the program's memory by hand_out and take_back.
std::string violations();
void hand_out(cudaStream_t stream, void* memory, std::size_t size);
void take_back(void* memory, std::size_t size);

}  // namespace cairn::preload
