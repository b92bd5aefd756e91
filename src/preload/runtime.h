// The CUDA runtime behind this library: the calls that a program would have reached without it.
//
// Each is looked for when it is first called: in the libraries after this one (RTLD_NEXT), then in
// a libcudart.so.13 or .12 that was loaded where only its own caller sees it, as Python's
// extension modules are. Calls whose stream 0 is the thread's own (_ptsz) are never needed: the
// stream is named to the plain one instead.
//
// Thread safety: all.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

namespace cairn::preload {

// Null where no library has it.
void* find_in_runtime(const char* name);
// Whether the process has loaded CUDA's driver, by whatever runtime.
bool is_driver_loaded();

template <class Call>
class Real;
template <class... Parameters>
class Real<cudaError_t(Parameters...)> {
 public:
  explicit constexpr Real(const char* name) : name_(name) {}

  // What the runtime's own call gives; cudaErrorSharedObjectSymbolNotFound where there is none.
  cudaError_t operator()(Parameters... arguments) {
    void* call = found_.load(std::memory_order_relaxed);
    if (call == nullptr) {  // Not for good: a runtime may be loaded later.
      call = find_in_runtime(name_);
      found_.store(call, std::memory_order_relaxed);
    }
    if (call == nullptr) return cudaErrorSharedObjectSymbolNotFound;
    return reinterpret_cast<cudaError_t (*)(Parameters...)>(call)(arguments...);
  }

 private:
  const char* name_;
  std::atomic<void*> found_{nullptr};
};

namespace real {

inline constinit Real<decltype(::cudaMalloc)> malloc{"cudaMalloc"};
inline constinit Real<decltype(::cudaFree)> free{"cudaFree"};
inline constinit Real<decltype(::cudaMallocAsync)> malloc_async{"cudaMallocAsync"};
inline constinit Real<decltype(::cudaFreeAsync)> free_async{"cudaFreeAsync"};
inline constinit Real<decltype(::cudaMemGetInfo)> mem_get_info{"cudaMemGetInfo"};
inline constinit Real<decltype(::cudaPointerGetAttributes)> pointer_get_attributes{
    "cudaPointerGetAttributes"};
inline constinit Real<decltype(::cudaIpcGetMemHandle)> ipc_get_mem_handle{"cudaIpcGetMemHandle"};
inline constinit Real<decltype(::cudaGetLastError)> get_last_error{"cudaGetLastError"};
inline constinit Real<decltype(::cudaGetDevice)> get_device{"cudaGetDevice"};
inline constinit Real<decltype(::cudaDeviceReset)> device_reset{"cudaDeviceReset"};
inline constinit Real<decltype(::cudaStreamCreateWithFlags)> stream_create_with_flags{
    "cudaStreamCreateWithFlags"};
inline constinit Real<decltype(::cudaStreamDestroy)> stream_destroy{"cudaStreamDestroy"};
inline constinit Real<decltype(::cudaStreamIsCapturing)> stream_is_capturing{
    "cudaStreamIsCapturing"};
inline constinit Real<decltype(::cudaStreamBeginCapture)> stream_begin_capture{
    "cudaStreamBeginCapture"};
inline constinit Real<decltype(::cudaStreamBeginCaptureToGraph)> stream_begin_capture_to_graph{
    "cudaStreamBeginCaptureToGraph"};
inline constinit Real<decltype(::cudaStreamEndCapture)> stream_end_capture{"cudaStreamEndCapture"};
inline constinit Real<decltype(::cudaDeviceSetMemPool)> device_set_mem_pool{"cudaDeviceSetMemPool"};
inline constinit Real<decltype(::cudaMemPoolSetAccess)> mem_pool_set_access{"cudaMemPoolSetAccess"};
// CUDA 12 does not have it.
inline constinit Real<cudaError_t(cudaMemLocation*, cudaMemAllocationType, cudaMemPool_t)>
    mem_set_mem_pool{"cudaMemSetMemPool"};

// What these give where the cache holds memory that they could have had, see serving.h.
inline constinit Real<decltype(::cudaMallocManaged)> malloc_managed{"cudaMallocManaged"};
inline constinit Real<decltype(::cudaMallocPitch)> malloc_pitch{"cudaMallocPitch"};
inline constinit Real<decltype(::cudaMalloc3D)> malloc_3d{"cudaMalloc3D"};
inline constinit Real<decltype(::cudaMallocArray)> malloc_array{"cudaMallocArray"};
inline constinit Real<decltype(::cudaMalloc3DArray)> malloc_3d_array{"cudaMalloc3DArray"};
inline constinit Real<decltype(::cudaMallocMipmappedArray)> malloc_mipmapped_array{
    "cudaMallocMipmappedArray"};
inline constinit Real<decltype(::cudaMallocFromPoolAsync)> malloc_from_pool_async{
    "cudaMallocFromPoolAsync"};

}  // namespace real

// cudaErrorInvalidValue, as the runtime says it: cudaGetLastError then has it too. Safe during
// captures.
cudaError_t refuse_value();
// The same for cudaErrorMemoryAllocation. Not during captures.
cudaError_t refuse_memory();

}  // namespace cairn::preload
