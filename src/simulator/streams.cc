#include "simulator/streams.h"

#include "base/thread_number.h"

namespace cairn::simulator {
namespace {

// Streams that are made are counted from 1; default streams have numbers that follow from device
// and thread.
constexpr std::uint64_t first_legacy = std::uint64_t{1} << 59;
constexpr std::uint64_t first_per_thread = std::uint64_t{1} << 60;

std::uint64_t value_of(StreamNumber stream) { return static_cast<std::uint64_t>(stream); }

}  // namespace

Streams::Streams(std::size_t devices, HostView& host) : host_(host), leftovers_(devices) {
  for (std::size_t i = 0; i < devices; ++i) remembered(legacy_of(static_cast<DeviceIndex>(i)));
}

StreamNumber Streams::legacy_of(DeviceIndex device) const {
  return StreamNumber{first_legacy + index(device)};
}

StreamNumber Streams::per_thread_of(DeviceIndex device) const {
  return StreamNumber{first_per_thread + this_thread_number() * device_count() + index(device)};
}

DeviceIndex Streams::device_of_default(StreamNumber stream) const {
  const std::uint64_t value = value_of(stream);
  return static_cast<DeviceIndex>(value < first_per_thread
                                      ? value - first_legacy
                                      : (value - first_per_thread) % device_count());
}

std::string Streams::describe(StreamNumber stream) const {
  const std::uint64_t value = value_of(stream);
  if (value < first_legacy) return "stream " + std::to_string(value);
  const std::string device = " of device " + std::to_string(device_of_default(stream));
  if (value < first_per_thread) return "the legacy default stream" + device;
  return "the default stream of thread " +
         std::to_string((value - first_per_thread) / device_count()) + device;
}

std::uint64_t Streams::make(const StreamOptions& options, ContextHandle context) {
  const StreamNumber number{++made_};
  const bool is_primary = context == primary_context(options.device);
  streams_[number] = {options.device, context, options.is_blocking && is_primary, false, {}};
  host_.add(number, kernels_);
  if (!options.reuse_handle) return handles_.add(number);
  handles_.reuse(*options.reuse_handle, number);
  return *options.reuse_handle;
}

void Streams::destroy(std::uint64_t handle, bool announced) {
  remembered(handles_.find(handle)).is_destroyed = true;
  handles_.end(handle, announced);
}

void Streams::destroy_all(ContextHandle context) {
  handles_.end_all([&](StreamNumber number) {
    Stream& stream = remembered(number);
    if (stream.context == context) stream.is_destroyed = true;
    return stream.is_destroyed;
  });
}

StreamNumber Streams::find(StreamRef stream) const {
  if (stream.handle <= legacy_stream_handle) return legacy_of(stream.device);
  if (stream.handle == per_thread_stream_handle) return per_thread_of(stream.device);
  return handles_.find(stream.handle);
}

ContextHandle Streams::context_of(StreamNumber stream) const {
  const auto found = streams_.find(stream);
  if (found != streams_.end()) return found->second.context;
  return primary_context(device_of_default(stream));
}

Streams::Stream& Streams::remembered(StreamNumber number) {
  const auto [found, is_new] = streams_.try_emplace(number);
  Stream& stream = found->second;
  if (!is_new) return stream;
  stream.device = device_of_default(number);
  stream.context = primary_context(stream.device);
  stream.is_blocking = value_of(number) >= first_per_thread;
  host_.add(number, kernels_);
  return stream;
}

const Point& Streams::enter(StreamNumber number) {
  Stream& stream = remembered(number);
  stream.tail = end_of(number, stream);
  return stream.tail;
}

void Streams::wait(StreamNumber number, const Point& point) {
  enter(number);
  Point& tail = remembered(number).tail;
  tail.join(point);
  host_.reduce(tail.before);
}

Kernel Streams::launch(StreamNumber number, Ticks now, Ticks ticks) {
  enter(number);
  Point& tail = remembered(number).tail;
  Kernel kernel{number, ++kernels_, tail.before, later(std::max(now, tail.done_at), ticks)};
  tail.before.raise({number, kernel.number});
  tail.done_at = kernel.done_at;
  return kernel;
}

Point Streams::end_of(StreamNumber number, const Stream& stream) const {
  Point end = stream.tail;
  const StreamNumber legacy = legacy_of(stream.device);
  if (stream.is_blocking) {
    end.join(streams_.at(legacy).tail);
  } else if (number == legacy) {
    end.join(leftovers_[index(stream.device)].blocking);
    for (const auto& [other, each] : streams_) {
      if (each.is_blocking && each.device == stream.device) end.join(each.tail);
    }
  }
  host_.reduce(end.before);
  return end;
}

Point Streams::end_of(StreamNumber number) const {
  const auto found = streams_.find(number);
  if (found != streams_.end()) return end_of(number, found->second);
  // A default stream of a thread that is idle has no work but the legacy stream's before its next.
  if (value_of(number) < first_per_thread) return {};
  return streams_.at(legacy_of(device_of_default(number))).tail;
}

Point Streams::end_of_device(DeviceIndex device) const {
  Point end = leftovers_[index(device)].blocking;
  end.join(leftovers_[index(device)].other);
  const ContextHandle context = primary_context(device);
  for (const auto& [number, stream] : streams_) {
    if (stream.context == context) end.join(stream.tail);
  }
  host_.reduce(end.before);
  return end;
}

bool Streams::ends(StreamNumber number, Stream& stream) {
  host_.reduce(stream.tail.before);
  if (!stream.is_destroyed) {
    return value_of(number) >= first_per_thread && stream.tail.before.entries().empty();
  }
  if (stream.context != primary_context(stream.device)) return true;
  Leftover& leftover = leftovers_[index(stream.device)];
  Point& point = stream.is_blocking ? leftover.blocking : leftover.other;
  point.join(stream.tail);
  host_.reduce(point.before);
  return true;
}

}  // namespace cairn::simulator
