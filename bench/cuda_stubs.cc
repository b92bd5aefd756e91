#include "bench/cuda_stubs.h"

#include <cuda_runtime_api.h>

#include <atomic>

namespace {

std::atomic<std::uint64_t> malloc_calls{0};
std::atomic<std::uint64_t> next_address{std::uint64_t{1} << 44};
constexpr std::uint64_t granularity = std::uint64_t{2} << 20;

}  // namespace

namespace cairn::bench {

std::uint64_t stub_malloc_calls() { return malloc_calls.load(std::memory_order_relaxed); }

}  // namespace cairn::bench

cudaError_t cudaMalloc(void** pointer, std::size_t size_bytes) {
  malloc_calls.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t rounded = (size_bytes + granularity - 1) & ~(granularity - 1);
  const std::uint64_t address = next_address.fetch_add(rounded, std::memory_order_relaxed);
  *pointer = reinterpret_cast<void*>(address);
  return cudaSuccess;
}
cudaError_t cudaFree(void*) { return cudaSuccess; }

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
