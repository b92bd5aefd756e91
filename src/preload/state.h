// All that the library knows, and what several of its calls need of it. Made at the first call and
// never ended, so that calls of other libraries' destructors find it.
//
// Thread safety: all.
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>

#include "preload/captures.h"
#include "preload/contexts.h"
#include "preload/fenced_frees.h"
#include "preload/live_blocks.h"
#include "preload/postponed_frees.h"
#include "preload/services.h"

namespace cairn::preload {

struct State {
  Contexts contexts;
  Services services;
  LiveBlocks live;
  Captures captures;
  FencedFrees fenced;
  PostponedFrees postponed;
  std::atomic<bool> are_pools_shaped{false};
};

State& state();

// Whether Cairn may be called now. What was postponed is then made up for.
bool may_serve();

// Waits until all work is done on every device where some can be. An error is CUDA's.
cudaError_t wait_for_all_work();

// Gives the block back to its allocator. REQUIRES: all work with it is done.
cudaError_t give_back(const LiveBlock& block);

// The device in whose primary context the stream is, `current` for default streams; -1: it is in
// another context.
int device_of(cudaStream_t stream, int current);

// All of a device, or of all devices, is gone.
void forget_device(int device);
void forget_all_devices();

// What an error of Cairn's is to a caller of CUDA.
cudaError_t code_of(const Error& error);

}  // namespace cairn::preload
