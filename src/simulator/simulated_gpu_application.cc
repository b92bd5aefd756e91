// What an application does with the streams of the simulated GPU.
#include <algorithm>
#include <string>
#include <utility>

#include "base/in_words.h"
#include "simulator/simulated_gpu.h"

namespace cairn::simulator {
namespace {

std::string no_device(DeviceIndex device) { return "there is no device " + std::to_string(device); }

std::string stream_in_words(std::uint64_t handle) { return "stream " + in_words(Address{handle}); }

}  // namespace

Result<StreamNumber, std::string> SimulatedGpu::stream_of(StreamRef stream) const {
  if (!exists(stream.device)) return Failure{no_device(stream.device)};
  const StreamNumber number = streams_.find(stream);
  if (number != StreamNumber::none) return number;
  return Failure{streams_.handles().is_dead(stream.handle)
                     ? stream_in_words(stream.handle) + " was destroyed"
                     : "there is no " + stream_in_words(stream.handle)};
}

Result<ContextHandle, std::string> SimulatedGpu::make_context(DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{no_device(device)};
  return contexts_.make(device);
}

Result<StreamRef, std::string> SimulatedGpu::make_stream(const StreamOptions& options) {
  const std::lock_guard lock(mutex_);
  if (!exists(options.device)) return Failure{no_device(options.device)};
  const auto context = contexts_.find(options.device, options.context);
  if (!context || contexts_.device_of(*context) != options.device) {
    return Failure{"device " + std::to_string(options.device) + " has no context " +
                   in_words(Address{options.context.value})};
  }
  if (options.reuse_handle && !streams_.handles().is_dead(*options.reuse_handle)) {
    return Failure{stream_in_words(*options.reuse_handle) +
                   " is not one that was destroyed: its handle cannot be used again"};
  }
  const StreamRef made{options.device, streams_.make(options, *context)};
  tidy();
  return made;
}

Result<Done, std::string> SimulatedGpu::destroy_stream(StreamRef stream, bool announced) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream);
  if (number.failed()) return Failure{number.error()};
  if (stream.handle <= per_thread_stream_handle) {
    return Failure{streams_.describe(*number) + " cannot be destroyed"};
  }
  streams_.destroy(stream.handle, announced);
  return Done{};
}

void SimulatedGpu::pass_dead_stream(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  streams_.forget_announcement(stream.handle);
}

StreamNumber SimulatedGpu::identify(StreamRef stream) const {
  const std::lock_guard lock(mutex_);
  return exists(stream.device) ? streams_.find(stream) : StreamNumber::none;
}

std::optional<std::string> SimulatedGpu::obstacle(const Touch& touch) const {
  if (!exists(touch.device)) return no_device(touch.device);
  if (touch.range.size.count == 0) return in_words(touch.range) + " are an empty range";
  const bool is_a_range =
      touch.range.size.count <= address_limit.value;  // Longer ones may pass 2^64.
  if (is_a_range && judge_.is_held(touch.device, touch.range)) return std::nullopt;
  return "the program does not hold the " + in_words(touch.range) + on_device(touch.device);
}

Result<Done, std::string> SimulatedGpu::launch(StreamRef stream, const std::vector<Touch>& touches,
                                               std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream);
  if (number.failed()) return Failure{number.error()};
  for (const Touch& touch : touches) {
    if (auto why_not = obstacle(touch)) return Failure{std::move(*why_not)};
  }
  judge_.on_kernel(streams_.launch(*number, now_, ticks), touches);
  tidy();
  return Done{};
}

Result<Done, std::string> SimulatedGpu::touch(StreamRef stream, const Touch& touch,
                                              std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream);
  if (number.failed()) return Failure{number.error()};
  if (!exists(touch.device)) return Failure{no_device(touch.device)};
  const Span range = touch.range;
  if (range.size.count == 0 || range.begin >= address_limit ||
      range.size > address_limit - range.begin) {
    return Failure{"no memory can be at the " + in_words(range)};
  }
  judge_.on_kernel(streams_.launch(*number, now_, ticks), {touch});
  tidy();
  return Done{};
}

Result<Done, std::string> SimulatedGpu::order(StreamRef before, StreamRef after) {
  const std::lock_guard lock(mutex_);
  const auto first = stream_of(before);
  if (first.failed()) return Failure{first.error()};
  const auto second = stream_of(after);
  if (second.failed()) return Failure{second.error()};
  const Point end = streams_.enter(*first);
  streams_.wait(*second, end);
  return Done{};
}

void SimulatedGpu::advance(std::uint64_t ticks) {
  const std::lock_guard lock(mutex_);
  now_ = later(now_, ticks);
}

Ticks SimulatedGpu::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

Result<Done, std::string> SimulatedGpu::synchronize(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream);
  if (number.failed()) return Failure{number.error()};
  wait_for(streams_.end_of(*number));
  return Done{};
}

Result<Done, std::string> SimulatedGpu::synchronize(DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{no_device(device)};
  wait_for(streams_.end_of_device(device));
  return Done{};
}

std::size_t SimulatedGpu::event_count() const {
  const std::lock_guard lock(mutex_);
  return events_.size();
}

void SimulatedGpu::tidy() {
  if (streams_.size() + judge_.size() <= tidy_above_) return;
  judge_.prune();
  const auto owners = judge_.owners();
  streams_.forget([&owners](StreamNumber stream) { return owners.count(stream) != 0; });
  const auto accessing = judge_.streams_of_accesses();
  host_.keep_if([&](StreamNumber stream) {
    return streams_.is_remembered(stream) || accessing.count(stream) != 0;
  });
  tidy_above_ = 2 * (streams_.size() + judge_.size()) + 1024;
}

}  // namespace cairn::simulator
