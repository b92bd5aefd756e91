// CUDA's own names and parameters: what a program reaches in the place of libcudart's.
#include <cuda_runtime_api.h>

#include <cstdio>

#include "preload/runtime.h"
#include "preload/serving.h"

namespace preload = cairn::preload;
namespace real = cairn::preload::real;

namespace {

// The stream that 0 means in a file compiled for per-thread default streams.
cudaStream_t own(cudaStream_t stream) { return stream == nullptr ? cudaStreamPerThread : stream; }

// What act() gives. That the host has no memory is all that it can throw, and none of that may
// reach who called it by C.
template <class Act>
cudaError_t guarded(Act&& act) noexcept {
  try {
    return act();
  } catch (...) {
    return cudaErrorMemoryAllocation;
  }
}

__attribute__((destructor)) void say_report() {
  guarded([] {
    std::fputs(preload::report().c_str(), stderr);
    return cudaSuccess;
  });
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
#pragma GCC visibility push(default)
extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return guarded([&] { return preload::malloc(pointer, size); });
}
cudaError_t cudaFree(void* pointer) {
  return guarded([&] { return preload::free(pointer); });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return guarded([&] { return preload::malloc_async(pointer, size, stream); });
}
cudaError_t cudaMallocAsync_ptsz(void** pointer, std::size_t size, cudaStream_t stream) {
  return guarded([&] { return preload::malloc_async(pointer, size, own(stream)); });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return guarded([&] { return preload::free_async(pointer, stream); });
}
cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream) {
  return guarded([&] { return preload::free_async(pointer, own(stream)); });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return guarded([&] { return preload::mem_get_info(free_bytes, total_bytes); });
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return guarded([&] { return preload::ipc_get_mem_handle(handle, pointer); });
}
cudaError_t cudaDeviceReset() {
  return guarded([&] { return preload::device_reset(); });
}
cudaError_t cudaThreadExit();  // Its older name, which CUDA 13 has no more.
cudaError_t cudaThreadExit() {
  return guarded([&] { return preload::device_reset(); });
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return guarded([&] { return preload::stream_destroy(stream); });
}

// Captures.
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return guarded([&] {
    return preload::begin_capture(stream, [&] { return real::stream_begin_capture(stream, mode); });
  });
}
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(own(stream), mode);
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                          const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, std::size_t count,
                                          cudaStreamCaptureMode mode) {
  return guarded([&] {
    return preload::begin_capture(stream, [&] {
      return real::stream_begin_capture_to_graph(stream, graph, dependencies, edges, count, mode);
    });
  });
}
cudaError_t cudaStreamBeginCaptureToGraph_ptsz(cudaStream_t stream, cudaGraph_t graph,
                                               const cudaGraphNode_t* dependencies,
                                               const cudaGraphEdgeData* edges, std::size_t count,
                                               cudaStreamCaptureMode mode) {
  return cudaStreamBeginCaptureToGraph(own(stream), graph, dependencies, edges, count, mode);
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  return guarded(
      [&] { return preload::capture_ended(stream, real::stream_end_capture(stream, graph)); });
}
cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(own(stream), graph);
}

// Pools.
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  return guarded([&] { return preload::pools_shaped(real::device_set_mem_pool(device, pool)); });
}
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list,
                                 std::size_t count) {
  return guarded(
      [&] { return preload::pools_shaped(real::mem_pool_set_access(pool, list, count)); });
}

// What CUDA 13 calls the first of these; CUDA 12 has no such call.
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool);
cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t pool) {
  return guarded(
      [&] { return preload::pools_shaped(real::mem_set_mem_pool(location, type, pool)); });
}

// Memory that is the runtime's own, and for which the cache makes room.
cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned int flags) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_managed(pointer, size, flags); });
  });
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_pitch(pointer, pitch, width, height); });
  });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* pointer, cudaExtent extent) {
  return guarded([&] {
    return preload::made_or_made_room_for([&] { return real::malloc_3d(pointer, extent); });
  });
}
cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                            std::size_t width, std::size_t height, unsigned int flags) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_array(array, format, width, height, flags); });
  });
}
cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* format,
                              cudaExtent extent, unsigned int flags) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_3d_array(array, format, extent, flags); });
  });
}
cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* format, cudaExtent extent,
                                     unsigned int levels, unsigned int flags) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_mipmapped_array(array, format, extent, levels, flags); });
  });
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, std::size_t size, cudaMemPool_t pool,
                                    cudaStream_t stream) {
  return guarded([&] {
    return preload::made_or_made_room_for(
        [&] { return real::malloc_from_pool_async(pointer, size, pool, stream); });
  });
}
cudaError_t cudaMallocFromPoolAsync_ptsz(void** pointer, std::size_t size, cudaMemPool_t pool,
                                         cudaStream_t stream) {
  return cudaMallocFromPoolAsync(pointer, size, pool, own(stream));
}

}  // extern "C"
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming,readability-function-size)
