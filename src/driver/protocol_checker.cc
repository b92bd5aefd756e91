#include "driver/protocol_checker.h"

#include <utility>

#include "base/in_words.h"

namespace cairn {

void ProtocolChecker::expect_all_back() const {
  SpansOut left;
  {
    const std::lock_guard lock(mutex_);
    left = out_;
  }
  for (const auto& [address, out] : left) {
    handler_({ProtocolRule::goes_back_once, out.device,
              in_words(Span{address, out.size}) + on_device(out.device) + " never went back"});
  }
}

void ProtocolChecker::check_device(DeviceIndex device, const char* call) const {
  if (0 <= device && device < below_.device_count()) return;
  handler_({ProtocolRule::known_device, device,
            call + on_device(device) + ", but there are " + std::to_string(below_.device_count())});
}

ProtocolChecker::SpansOut::node_type ProtocolChecker::take_off(Address address) {
  const std::lock_guard lock(mutex_);
  return out_.extract(address);
}

DriverResult<Address> ProtocolChecker::malloc(DeviceIndex device, Bytes size) {
  check_device(device, "malloc");
  const auto result = below_.malloc(device, size);
  if (result) {
    const std::lock_guard lock(mutex_);
    out_.insert_or_assign(*result, Out{device, size});
  }
  return result;
}

DriverResult<Done> ProtocolChecker::free(DeviceIndex device, Address address) {
  check_device(device, "free");
  // Off the list before the driver has it: another thread may be given the same address at once.
  auto span = take_off(address);
  if (span.empty()) {
    handler_({ProtocolRule::goes_back_once, device,
              "free of " + in_words(address) + on_device(device) +
                  ", where nothing begins that is out"});
  } else if (span.mapped().device != device) {
    handler_({ProtocolRule::goes_back_to_its_own, device,
              "free of " + in_words(address) + on_device(device) + ", but it is from device " +
                  std::to_string(span.mapped().device)});
  }
  const auto result = below_.free(device, address);
  if (!result && !span.empty()) {
    const std::lock_guard lock(mutex_);
    out_.insert(std::move(span));
  }
  return result;
}

DriverResult<MemoryInfo> ProtocolChecker::mem_info(DeviceIndex device) {
  check_device(device, "mem_info");
  return below_.mem_info(device);
}

DriverResult<EventHandle> ProtocolChecker::event_create(DeviceIndex device, ContextHandle context) {
  check_device(device, "event_create");
  return below_.event_create(device, context);
}

DriverResult<Done> ProtocolChecker::event_record(StreamRef stream, EventHandle event) {
  check_device(stream.device, "event_record");
  return below_.event_record(stream, event);
}

DriverResult<bool> ProtocolChecker::event_query(DeviceIndex device, EventHandle event) {
  check_device(device, "event_query");
  return below_.event_query(device, event);
}

DriverResult<Done> ProtocolChecker::event_sync(DeviceIndex device, EventHandle event) {
  check_device(device, "event_sync");
  return below_.event_sync(device, event);
}

DriverResult<Done> ProtocolChecker::event_destroy(DeviceIndex device, EventHandle event) {
  check_device(device, "event_destroy");
  return below_.event_destroy(device, event);
}

DriverResult<Done> ProtocolChecker::ctx_record(DeviceIndex device, EventHandle event) {
  check_device(device, "ctx_record");
  return below_.ctx_record(device, event);
}

DriverResult<Done> ProtocolChecker::stream_sync(StreamRef stream) {
  check_device(stream.device, "stream_sync");
  return below_.stream_sync(stream);
}

DriverResult<Done> ProtocolChecker::device_sync(DeviceIndex device) {
  check_device(device, "device_sync");
  return below_.device_sync(device);
}

DriverResult<ContextHandle> ProtocolChecker::stream_ctx(StreamRef stream) {
  check_device(stream.device, "stream_ctx");
  return below_.stream_ctx(stream);
}

DriverResult<std::uint64_t> ProtocolChecker::stream_id(StreamRef stream) {
  check_device(stream.device, "stream_id");
  return below_.stream_id(stream);
}

}  // namespace cairn
