#include "preload/serving.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "preload/report.h"
#include "preload/runtime.h"
#include "preload/say.h"
#include "preload/settings.h"
#include "preload/state.h"

namespace cairn::preload {
namespace {

// Null: the call is the runtime's.
DeviceService* service_here() {
  if (!may_serve()) return nullptr;
  return state().services.of(state().contexts.current_device());
}

// The same for the device of a stream that is not captured, by whomever.
DeviceService* service_for(cudaStream_t stream) {
  if (state().are_pools_shaped || !may_serve()) return nullptr;
  cudaStreamCaptureStatus status{};
  const cudaError_t said = real::stream_is_capturing(stream, &status);
  if (said != cudaSuccess || status != cudaStreamCaptureStatusNone) return nullptr;
  const int current = state().contexts.current_device();
  return current < 0 ? nullptr : state().services.of(device_of(stream, current));
}

void* allocate(DeviceService& service, const Request& request, Error& why) {
  FencedFrees& fenced = state().fenced;
  fenced.collect();
  void* pointer = service.allocator().try_allocate(request, &why);
  if (pointer == nullptr && fenced.wait()) {
    pointer = service.allocator().try_allocate(request, &why);
  }
  if (pointer == nullptr || state().live.add({pointer, &service})) {
    return pointer;
  }
  service.allocator().try_free(pointer);
  return nullptr;
}

// Whether the user's own limit is what was in the way, which the runtime does not know.
bool is_limit(const Error& why) {
  return why.code == ErrorCode::rejected || (why.memory && why.memory->limit_bytes);
}

cudaError_t refuse_free() {
  ++counts.refusals;
  static std::atomic_flag was_said;
  say_once(was_said,
           "the program frees what it does not hold: memory that it has freed before, or an "
           "address inside what it holds. That is refused as an invalid value (1)");
  return refuse_value();
}

// Gives `said`: what became of the free.
cudaError_t settled(LiveBlocks::Claim& block, cudaError_t said) {
  if (said == cudaSuccess) block.settle();
  return said;
}

// The block is to be freed later, if it can be remembered.
cudaError_t postpone(const LiveBlock& block) {
  ++counts.postponed_frees;
  return state().postponed.add(block) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t free_after_all_work(const LiveBlock& block) {
  const cudaError_t waited = wait_for_all_work();
  return waited == cudaSuccess ? give_back(block) : waited;
}

cudaError_t free_in_order(const LiveBlock& block, cudaStream_t stream) {
  const int current = state().contexts.current_device();
  const int device = current < 0 ? -1 : device_of(stream, current);
  if (device < 0) return free_after_all_work(block);  // It is a stream of no primary context.
  Error why;
  Allocator& allocator = block.service->allocator();
  return allocator.try_free_on(block.pointer, stream, device, &why) ? cudaSuccess : code_of(why);
}

bool fence(const LiveBlock& block) {
  std::vector<DeviceService*> services;
  for (const int device : state().contexts.active_devices()) {
    DeviceService* const service = state().services.of(device);
    if (service == nullptr) return false;
    services.push_back(service);
  }
  if (state().fenced.add(block, services)) return true;
  static std::atomic_flag was_said;
  say_once(was_said,
           "CAIRN_PRELOAD_FREE=event: no event of a whole context can be had, which needs a driver "
           "for CUDA 12.5 or later; cudaFree synchronises instead");
  return false;
}

}  // namespace

cudaError_t malloc(void** pointer, std::size_t size) {
  ++counts.mallocs;
  const bool is_for_cairn = pointer != nullptr && size != 0 && !settings().shares_memory;
  DeviceService* const service = is_for_cairn ? service_here() : nullptr;
  Stream settled = service == nullptr ? nullptr : service->settled();
  if (settled == nullptr) return real::malloc(pointer, size);
  Error why;
  void* const given = allocate(*service, {size, service->device(), settled}, why);
  if (given == nullptr) return is_limit(why) ? refuse_memory() : real::malloc(pointer, size);
  ++counts.served_mallocs;
  *pointer = given;
  return cudaSuccess;
}

cudaError_t malloc_async(void** pointer, std::size_t size, cudaStream_t stream) {
  ++counts.mallocs_async;
  const bool is_for_cairn = pointer != nullptr && size != 0;
  DeviceService* const service = is_for_cairn ? service_for(stream) : nullptr;
  if (service == nullptr) return real::malloc_async(pointer, size, stream);
  Error why;
  void* const given = allocate(*service, {size, service->device(), stream}, why);
  if (given == nullptr) {
    return is_limit(why) ? refuse_memory() : real::malloc_async(pointer, size, stream);
  }
  ++counts.served_mallocs_async;
  *pointer = given;
  return cudaSuccess;
}

cudaError_t free(void* pointer) {
  State& all = state();
  if (pointer == nullptr || Services::is_child()) return real::free(pointer);
  ++counts.frees;
  auto block = all.live.claim(pointer);
  if (!block) return all.services.have(pointer) ? refuse_free() : real::free(pointer);
  ++counts.served_frees;
  const auto no_capture = all.captures.none();
  if (!no_capture) return settled(block, postpone(*block));
  if (settings().frees_by_event && fence(*block)) return settled(block, cudaSuccess);
  return settled(block, free_after_all_work(*block));
}

cudaError_t free_async(void* pointer, cudaStream_t stream) {
  State& all = state();
  if (pointer == nullptr || Services::is_child()) return real::free_async(pointer, stream);
  ++counts.frees_async;
  auto block = all.live.claim(pointer);
  if (!block) {
    return all.services.have(pointer) ? refuse_free() : real::free_async(pointer, stream);
  }
  ++counts.served_frees_async;
  cudaStreamCaptureStatus status{};
  const cudaError_t said = real::stream_is_capturing(stream, &status);
  if (said != cudaSuccess) return said;
  // A graph frees what it allocated, and nothing else.
  if (status != cudaStreamCaptureStatusNone) return refuse_value();
  const auto no_capture = all.captures.none();
  if (!no_capture) return settled(block, postpone(*block));
  return settled(block, free_in_order(*block, stream));
}

cudaError_t mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  const cudaError_t said = real::mem_get_info(free_bytes, total_bytes);
  int device = -1;
  if (said != cudaSuccess || Services::is_child() || real::get_device(&device) != cudaSuccess) {
    return said;
  }
  const DeviceService* const service = state().services.if_made(device);
  if (service != nullptr) {
    if (!state().captures.any()) state().fenced.collect();
    *free_bytes = std::min<std::size_t>(*free_bytes + service->releasable_bytes(), *total_bytes);
  }
  return said;
}

cudaError_t ipc_get_mem_handle(cudaIpcMemHandle_t* handle, void* pointer) {
  if (Services::is_child() || !state().services.have(pointer)) {
    return real::ipc_get_mem_handle(handle, pointer);
  }
  ++counts.refusals;
  static std::atomic_flag was_said;
  say_once(was_said,
           "cudaIpcGetMemHandle is refused as an invalid value (1): the memory is a part of a "
           "segment, all of which another process would get, from its beginning. With "
           "CAIRN_PRELOAD_IPC=1 cudaMalloc is left to the runtime, and its memory can be shared");
  return refuse_value();
}

cudaError_t device_reset() {
  int device = -1;
  if (Services::is_child()) return real::device_reset();
  if (real::get_device(&device) == cudaSuccess) {
    forget_device(device);  // Before it is gone, so that nobody gets dead memory.
  } else {
    forget_all_devices();  // Which it is, a device that is lost does not say.
  }
  return real::device_reset();
}

cudaError_t stream_destroy(cudaStream_t stream) {
  State& all = state();
  const bool is_default =  // Which cannot be destroyed.
      stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread;
  if (is_default || Services::is_child() || all.services.all().empty()) {
    return real::stream_destroy(stream);
  }
  all.captures.forget_stream(stream);
  bool is_told = !all.captures.any();
  if (is_told) {
    const int current = all.contexts.current_device();
    const int device = current < 0 ? -1 : device_of(stream, current);
    for (DeviceService* service : all.services.all()) {
      is_told = is_told && device >= 0 && service->allocator().try_forget_stream(device, stream);
    }
  }
  if (!is_told) all.postponed.add_wait();
  return real::stream_destroy(stream);
}

cudaError_t capture_ended(cudaStream_t stream, cudaError_t said) {
  state().captures.ended(stream, said);
  return said;
}

cudaError_t pools_shaped(cudaError_t said) {
  if (said == cudaSuccess) state().are_pools_shaped = true;
  return said;
}

bool release_cached() {
  if (!may_serve()) return false;
  bool has_released = false;
  state().fenced.wait();
  for (DeviceService* service : state().services.all()) {
    const std::uint64_t before = service->driver().frees();
    service->allocator().try_empty_cache();
    has_released = has_released || service->driver().frees() != before;
  }
  if (has_released) real::get_last_error();  // That there was no memory is over.
  return has_released;
}

std::string report() {
  const bool is_used =
      counts.mallocs + counts.mallocs_async + counts.frees + counts.frees_async != 0;
  // A child of fork() has done nothing, and what another thread had locked stays so in it.
  if (!settings().reports || Services::is_child()) return {};
  if (is_used) return in_words(counts, state().services.all());
  return is_driver_loaded() ? nothing_seen() : std::string();
}

}  // namespace cairn::preload
