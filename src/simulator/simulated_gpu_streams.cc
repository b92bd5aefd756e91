// The driver's calls of the simulated GPU for events and streams.
#include "base/in_words.h"
#include "simulator/simulated_gpu.h"

namespace cairn::simulator {

DriverResult<StreamNumber> SimulatedGpu::stream_of(StreamRef stream, const char* call) {
  if (!exists(stream.device)) return Failure{CudaStatus::invalid_device};
  const StreamNumber number = streams_.find(stream);
  if (number != StreamNumber::none) return number;
  if (streams_.handles().is_announced_dead(stream.handle)) {
    judge_.on_dead_handle(stream.device, std::string(call) + " of the stream " +
                                             in_words(Address{stream.handle}) +
                                             ", whose end was announced");
  }
  return Failure{CudaStatus::invalid_handle};
}

DriverResult<Event*> SimulatedGpu::event_of(DeviceIndex device, EventHandle event,
                                            const char* call) {
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  if (Event* found = events_.find(event)) return found;
  judge_.on_dead_handle(device, std::string(call) + " of the event " +
                                    in_words(Address{event.value}) + ", which was " +
                                    (events_.was_destroyed(event) ? "destroyed" : "never created"));
  return Failure{CudaStatus::invalid_handle};
}

void SimulatedGpu::wait_for(const Point& point) {
  now_ = std::max(now_, point.done_at);
  host_.see(point.before);
}

DriverResult<EventHandle> SimulatedGpu::event_create(DeviceIndex device, ContextHandle context) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  const auto found = contexts_.find(device, context);
  if (!found) return Failure{CudaStatus::invalid_handle};
  return events_.make(*found);
}

DriverResult<Done> SimulatedGpu::event_record(StreamRef stream, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "event_record");
  const auto found = event_of(stream.device, event, "event_record");
  if (number.failed()) return Failure{number.error()};
  if (found.failed()) return Failure{found.error()};
  if ((*found)->context != streams_.context_of(*number)) return Failure{CudaStatus::invalid_handle};
  (*found)->recorded = streams_.enter(*number);
  return Done{};
}

DriverResult<bool> SimulatedGpu::event_query(DeviceIndex device, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_of(device, event, "event_query");
  if (found.failed()) return Failure{found.error()};
  const Point& recorded = (*found)->recorded;
  if (recorded.done_at > now_) return false;
  host_.see(recorded.before);
  return true;
}

DriverResult<Done> SimulatedGpu::event_sync(DeviceIndex device, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_of(device, event, "event_sync");
  if (found.failed()) return Failure{found.error()};
  wait_for((*found)->recorded);
  return Done{};
}

DriverResult<Done> SimulatedGpu::event_destroy(DeviceIndex device, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_of(device, event, "event_destroy");
  if (found.failed()) return Failure{found.error()};
  events_.destroy(event);
  return Done{};
}

DriverResult<Ticks> SimulatedGpu::event_time(DeviceIndex device, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_of(device, event, "event_time");
  if (found.failed()) return Failure{found.error()};
  return (*found)->recorded.done_at;
}

DriverResult<Done> SimulatedGpu::ctx_record(DeviceIndex device, EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto found = event_of(device, event, "ctx_record");
  if (found.failed()) return Failure{found.error()};
  if ((*found)->context != primary_context(device)) return Failure{CudaStatus::invalid_handle};
  (*found)->recorded = streams_.end_of_device(device);
  return Done{};
}

DriverResult<Done> SimulatedGpu::stream_sync(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "stream_sync");
  if (number.failed()) return Failure{number.error()};
  wait_for(streams_.end_of(*number));
  return Done{};
}

DriverResult<bool> SimulatedGpu::stream_query(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "stream_query");
  if (number.failed()) return Failure{number.error()};
  const Point end = streams_.end_of(*number);
  if (end.done_at > now_) return false;
  host_.see(end.before);
  return true;
}

DriverResult<Done> SimulatedGpu::stream_wait(StreamRef stream, DeviceIndex device,
                                             EventHandle event) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "stream_wait");
  if (number.failed()) return Failure{number.error()};
  const auto found = event_of(device, event, "stream_wait");
  if (found.failed()) return Failure{found.error()};
  streams_.wait(*number, (*found)->recorded);
  return Done{};
}

DriverResult<Done> SimulatedGpu::device_sync(DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  wait_for(streams_.end_of_device(device));
  return Done{};
}

DriverResult<ContextHandle> SimulatedGpu::stream_ctx(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "stream_ctx");
  if (number.failed()) return Failure{number.error()};
  const ContextHandle context = streams_.context_of(*number);
  return context == primary_context(stream.device) ? ContextHandle{} : context;
}

DriverResult<std::uint64_t> SimulatedGpu::stream_id(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const auto number = stream_of(stream, "stream_id");
  if (number.failed()) return Failure{number.error()};
  return static_cast<std::uint64_t>(*number);
}

}  // namespace cairn::simulator
