#include "preload/captures.h"

#include <functional>
#include <thread>

#include "preload/runtime.h"

namespace cairn::preload {

Captures::Capture Captures::named(cudaStream_t stream) {
  if (stream != cudaStreamPerThread) return {stream, 0};
  return {stream, std::hash<std::thread::id>{}(std::this_thread::get_id())};
}

void Captures::begun(cudaStream_t stream, cudaError_t said) {
  if (said != cudaSuccess) return;
  int device = 0;
  real::get_device(&device);
  const std::lock_guard lock(mutex_);
  devices_[named(stream)] = device;
  count_ = devices_.size();
}

void Captures::ended(cudaStream_t stream, cudaError_t said) {
  // Any other failure ends the capture too.
  if (said != cudaErrorStreamCaptureWrongThread) remove(named(stream));
}

void Captures::forget_stream(cudaStream_t stream) { remove(named(stream)); }

void Captures::forget_device(int device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [&](const auto& entry) { return entry.second == device; });
  count_ = devices_.size();
}

void Captures::remove(const Capture& capture) {
  const std::lock_guard lock(mutex_);
  devices_.erase(capture);
  count_ = devices_.size();
}

}  // namespace cairn::preload
