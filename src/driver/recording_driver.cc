#include "driver/recording_driver.h"

#include <utility>

namespace cairn {

std::vector<RecordedCall> RecordingDriver::take_record() {
  const std::lock_guard lock(mutex_);
  return std::exchange(record_, {});
}

std::uint64_t RecordingDriver::calls(DriverCall call) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(call)];
}

void RecordingDriver::reset_calls() {
  const std::lock_guard lock(mutex_);
  calls_ = {};
}

template <class T, class Note>
DriverResult<T> RecordingDriver::written(RecordedCall call, DriverResult<T> result, Note&& note) {
  if (result) {
    note(call, *result);
  } else {
    call.status = result.error();
  }
  const std::lock_guard lock(mutex_);
  record_.push_back(call);
  ++calls_[static_cast<std::size_t>(call.call)];
  return result;
}

template <class T>
DriverResult<T> RecordingDriver::written(const RecordedCall& call, DriverResult<T> result) {
  return written(call, std::move(result), [](RecordedCall&, const T&) {});
}

DriverResult<Address> RecordingDriver::malloc(DeviceIndex device, Bytes size) {
  const RecordedCall call{.call = DriverCall::malloc, .device = device, .size = size};
  return written(call, below_.malloc(device, size),
                 [](RecordedCall& made, Address given) { made.address = given; });
}

DriverResult<Done> RecordingDriver::free(DeviceIndex device, Address address) {
  const RecordedCall call{.call = DriverCall::free, .device = device, .address = address};
  return written(call, below_.free(device, address));
}

DriverResult<MemoryInfo> RecordingDriver::mem_info(DeviceIndex device) {
  const RecordedCall call{.call = DriverCall::mem_info, .device = device};
  return written(call, below_.mem_info(device),
                 [](RecordedCall& made, MemoryInfo given) { made.memory = given; });
}

DriverResult<EventHandle> RecordingDriver::event_create(DeviceIndex device, ContextHandle context) {
  const RecordedCall call{.call = DriverCall::event_create, .device = device, .context = context};
  return written(call, below_.event_create(device, context),
                 [](RecordedCall& made, EventHandle given) { made.event = given; });
}

DriverResult<Done> RecordingDriver::event_record(StreamRef stream, EventHandle event) {
  const RecordedCall call{.call = DriverCall::event_record,
                          .device = stream.device,
                          .stream = stream.handle,
                          .event = event};
  return written(call, below_.event_record(stream, event));
}

DriverResult<bool> RecordingDriver::event_query(DeviceIndex device, EventHandle event) {
  const RecordedCall call{.call = DriverCall::event_query, .device = device, .event = event};
  return written(call, below_.event_query(device, event),
                 [](RecordedCall& made, bool given) { made.is_done = given; });
}

DriverResult<Done> RecordingDriver::event_sync(DeviceIndex device, EventHandle event) {
  const RecordedCall call{.call = DriverCall::event_sync, .device = device, .event = event};
  return written(call, below_.event_sync(device, event));
}

DriverResult<Done> RecordingDriver::event_destroy(DeviceIndex device, EventHandle event) {
  const RecordedCall call{.call = DriverCall::event_destroy, .device = device, .event = event};
  return written(call, below_.event_destroy(device, event));
}

DriverResult<Done> RecordingDriver::ctx_record(DeviceIndex device, EventHandle event) {
  const RecordedCall call{.call = DriverCall::ctx_record, .device = device, .event = event};
  return written(call, below_.ctx_record(device, event));
}

DriverResult<Done> RecordingDriver::stream_sync(StreamRef stream) {
  const RecordedCall call{
      .call = DriverCall::stream_sync, .device = stream.device, .stream = stream.handle};
  return written(call, below_.stream_sync(stream));
}

DriverResult<Done> RecordingDriver::device_sync(DeviceIndex device) {
  const RecordedCall call{.call = DriverCall::device_sync, .device = device};
  return written(call, below_.device_sync(device));
}

DriverResult<ContextHandle> RecordingDriver::stream_ctx(StreamRef stream) {
  const RecordedCall call{
      .call = DriverCall::stream_ctx, .device = stream.device, .stream = stream.handle};
  return written(call, below_.stream_ctx(stream),
                 [](RecordedCall& made, ContextHandle given) { made.context = given; });
}

DriverResult<std::uint64_t> RecordingDriver::stream_id(StreamRef stream) {
  const RecordedCall call{
      .call = DriverCall::stream_id, .device = stream.device, .stream = stream.handle};
  return written(call, below_.stream_id(stream),
                 [](RecordedCall& made, std::uint64_t given) { made.stream_id = given; });
}

}  // namespace cairn
