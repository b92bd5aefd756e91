#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <map>

#include "bench/cuda_stubs.h"

namespace {

cairn::bench::StubCounts counts;
std::map<void*, std::size_t> held;
std::uint64_t next_address = std::uint64_t{1} << 44;
constexpr std::uint64_t granularity = std::uint64_t{2} << 20;

cudaError_t event_call() {
  ++counts.event_calls;
  return cudaSuccess;
}

}  // namespace

namespace cairn::bench {

std::uint64_t stub_malloc_calls() { return counts.malloc_calls; }
const StubCounts& stub_counts() { return counts; }
void reset_stub_counts() {
  counts = {};
  held.clear();
}

}  // namespace cairn::bench

cudaError_t cudaMalloc(void** pointer, std::size_t size_bytes) {
  *pointer = reinterpret_cast<void*>(next_address);
  next_address += (size_bytes + granularity - 1) / granularity * granularity;
  held[*pointer] = size_bytes;
  ++counts.malloc_calls;
  counts.held_bytes += size_bytes;
  counts.peak_held_bytes = std::max(counts.peak_held_bytes, counts.held_bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  const auto block = held.find(pointer);
  if (block == held.end()) return cudaErrorInvalidValue;
  ++counts.free_calls;
  counts.held_bytes -= block->second;
  held.erase(block);
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return event_call();
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return event_call(); }
cudaError_t cudaEventQuery(cudaEvent_t) { return event_call(); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return event_call(); }

cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return ""; }
