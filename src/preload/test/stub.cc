#include "preload/test/stub.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <set>

namespace {

std::atomic<int> mallocs;
std::atomic<int> frees;
std::atomic<int> mallocs_async;
void (*on_begin_capture)() = [] {};

std::set<cudaStream_t>& captured() {
  static auto* const streams = new std::set<cudaStream_t>;
  return *streams;
}

template <class Call>
Call* next(Call*, const char* name) {
  return reinterpret_cast<Call*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

void cairn_stub_begin_capture(CUstream_st* stream) { captured().insert(stream); }
void cairn_stub_end_capture(CUstream_st* stream) { captured().erase(stream); }
void cairn_stub_on_begin_capture(void (*act)()) { on_begin_capture = act; }

int cairn_stub_mallocs() { return mallocs; }
int cairn_stub_frees() { return frees; }
int cairn_stub_mallocs_async() { return mallocs_async; }

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  ++mallocs;
  return next(&cudaMalloc, "cudaMalloc")(pointer, size);
}
cudaError_t cudaFree(void* pointer) {
  if (pointer != nullptr) ++frees;
  return next(&cudaFree, "cudaFree")(pointer);
}
cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  ++mallocs_async;
  return next(&cudaMallocAsync, "cudaMallocAsync")(pointer, size, stream);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  captured().insert(stream);
  on_begin_capture();
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  *graph = nullptr;
  return captured().erase(stream) != 0 ? cudaSuccess : cudaErrorIllegalState;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  if (stream == nullptr && !captured().empty()) return cudaErrorStreamCaptureImplicit;
  *status =
      captured().count(stream) != 0 ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

// No pool is another one there.
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType, cudaMemPool_t) {
  return location == nullptr ? cudaErrorInvalidValue : cudaSuccess;
}

// The handle is the address.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  std::memcpy(handle, &pointer, sizeof pointer);
  return cudaSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
