#include "preload/state.h"

#include "preload/report.h"

namespace cairn::preload {

State& state() {
  static auto* const the_state = new State;
  return *the_state;
}

bool may_serve() {
  State& all = state();
  if (!all.services.can_serve() || all.captures.any()) return false;
  if (!all.postponed.is_due()) return true;
  const auto no_capture = all.captures.none();
  if (!no_capture) return false;
  return all.postponed.settle([] { return wait_for_all_work() == cudaSuccess; }, give_back);
}

cudaError_t wait_for_all_work() {
  State& all = state();
  ++counts.synchronizations;
  for (const int device : all.contexts.active_devices()) {
    DeviceService* const service = all.services.of(device);
    if (service == nullptr) return cudaErrorUnknown;
    const auto done = service->driver().device_sync(device);
    if (!done) return static_cast<cudaError_t>(done.error());  // Both number them alike.
  }
  return cudaSuccess;
}

cudaError_t give_back(const LiveBlock& block) {
  Error why;
  return block.service->allocator().try_free(block.pointer, &why) ? cudaSuccess : code_of(why);
}

int device_of(cudaStream_t stream, int current) {
  if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
    return current;
  }
  State& all = state();
  const auto is_of = [&](int device) {
    DeviceService* const service = all.services.of(device);
    if (service == nullptr) return false;
    const auto handle = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(stream));
    const auto context = service->driver().stream_ctx({device, handle});
    return context && *context == ContextHandle{};
  };
  if (is_of(current)) return current;
  for (const int device : all.contexts.active_devices()) {
    if (device != current && is_of(device)) return device;
  }
  return -1;
}

void forget_device(int device) {
  State& all = state();
  all.captures.forget_device(device);
  all.contexts.forget(device);
  const DeviceService* const service = all.services.give_up(device);
  if (service == nullptr) return;
  all.live.drop(service);
  all.fenced.drop(service);
  all.postponed.drop(service);
}

void forget_all_devices() {
  for (int device = 0; device < max_devices; ++device) forget_device(device);
}

cudaError_t code_of(const Error& error) {
  if (error.cuda_code != 0) return static_cast<cudaError_t>(error.cuda_code);
  const bool is_memory =
      error.code == ErrorCode::out_of_host_memory || error.code == ErrorCode::rejected;
  return is_memory ? cudaErrorMemoryAllocation : cudaErrorInvalidValue;
}

}  // namespace cairn::preload
