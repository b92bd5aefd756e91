#include "preload/captures.h"

#include <functional>
#include <thread>
#include <utility>

#include "preload/runtime.h"

namespace cairn::preload {

Captures::Capture Captures::named(cudaStream_t stream) {
  if (stream != cudaStreamPerThread) return {stream, 0};
  return {stream, std::hash<std::thread::id>{}(std::this_thread::get_id())};
}

bool Captures::goes_on(const Capture& capture) {
  if (capture != named(capture.stream)) return true;  // Only its own thread can ask for it.
  cudaStreamCaptureStatus status{};
  const cudaError_t said = real::stream_is_capturing(capture.stream, &status);
  return said != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

bool Captures::any_goes_on() {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [](const auto& entry) { return !goes_on(entry.first); });
  count_ = devices_.size();
  return !devices_.empty();
}

Captures::None Captures::none() {
  if (beginners_ != 0) return {};
  None held(begins_, std::try_to_lock);
  return held && !any() ? std::move(held) : None{};
}

void Captures::begun(cudaStream_t stream) {
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
