// The decisions: which call is served by Cairn, which goes on to the runtime, and what a free waits
// for. README.md says what a program may rely on.
//
// Each gives what the call of CUDA's that it is named after would give. A stream is as the plain
// calls name it: 0 is the legacy default stream, 2 that of the calling thread.
//
// Thread safety: all.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>

#include "preload/state.h"

namespace cairn::preload {

cudaError_t malloc(void** pointer, std::size_t size);
cudaError_t malloc_async(void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t free(void* pointer);
cudaError_t free_async(void* pointer, cudaStream_t stream);

cudaError_t mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes);
cudaError_t ipc_get_mem_handle(cudaIpcMemHandle_t* handle, void* pointer);
cudaError_t device_reset();
cudaError_t stream_destroy(cudaStream_t stream);

// Calls begin(), which is the runtime's call, and gives what that gave.
template <class Begin>
cudaError_t begin_capture(cudaStream_t stream, Begin&& begin) {
  return state().captures.begin(stream, begin);
}
// Takes notice of what the runtime answered, and gives it.
cudaError_t capture_ended(cudaStream_t stream, cudaError_t said);
// The same. Where that was success, cudaMallocAsync is the runtime's alone from now on, since the
// program shapes its pools: who may reach their memory, or which pool it is from.
cudaError_t pools_shaped(cudaError_t said);

// Gives all that is cached back; false where nothing was. After it the thread has no last error.
bool release_cached();

// What was done so far; empty where no report is wanted, or the process does not use CUDA.
std::string report();

// What make() gives, again where it found no memory and there was some in the cache.
template <class Make>
cudaError_t made_or_made_room_for(Make&& make) {
  const cudaError_t said = make();
  return said == cudaErrorMemoryAllocation && release_cached() ? make() : said;
}

}  // namespace cairn::preload
