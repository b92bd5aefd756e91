#include "driver/protocol_checker.h"

#include <utility>

#include "base/in_words.h"

namespace cairn {
namespace {

std::string in_words(DriverCall call) { return std::string(to_string(call)); }
std::string in_words(EventHandle event) { return "event " + std::to_string(event.value); }
std::string in_words(ContextHandle context) { return "context " + std::to_string(context.value); }

bool is_default_stream(std::uint64_t handle) { return handle <= per_thread_stream_handle; }

}  // namespace

void ProtocolChecker::stream_ended(std::uint64_t handle) {
  if (is_default_stream(handle)) return;
  const std::lock_guard lock(mutex_);
  known_.ended_streams.insert(handle);
  std::erase_if(known_.contexts, [&](const auto& of) { return of.first.handle == handle; });
}

void ProtocolChecker::stream_began(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  known_.ended_streams.erase(handle);
}

void ProtocolChecker::expect_all_back() const {
  Known left;
  {
    const std::lock_guard lock(mutex_);
    left = known_;
  }
  for (const auto& [address, out] : left.spans) {
    if (left.lost_devices.contains(out.device)) continue;
    report(ProtocolRule::goes_back_once, out.device,
           in_words(Span{address, out.size}) + on_device(out.device) + " never went back");
  }
  for (const auto& [event, made] : left.events) {
    if (left.lost_devices.contains(made.device)) continue;
    report(ProtocolRule::event_destroyed, made.device,
           in_words(event) + on_device(made.device) + " was never destroyed");
  }
}

void ProtocolChecker::check_device(DriverCall call, DeviceIndex device) const {
  if (device < 0 || below_.device_count() <= device) {
    report(
        ProtocolRule::known_device, device,
        in_words(call) + on_device(device) + ", but there are " + std::to_string(device_count()));
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (!known_.lost_devices.contains(device)) return;
  }
  report(ProtocolRule::device_not_lost, device,
         in_words(call) + on_device(device) + ", which is lost");
}

void ProtocolChecker::check_stream(DriverCall call, StreamRef stream) const {
  check_device(call, stream.device);
  {
    const std::lock_guard lock(mutex_);
    if (!known_.ended_streams.contains(stream.handle)) return;
  }
  report(ProtocolRule::stream_exists, stream.device,
         in_words(call) + " names stream " + std::to_string(stream.handle) +
             on_device(stream.device) + ", which has ended");
}

void ProtocolChecker::check_event(DriverCall call, DeviceIndex device, EventHandle event,
                                  std::optional<ContextHandle> context) const {
  std::optional<Event> made;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = known_.events.find(event); found != known_.events.end()) {
      made = found->second;
    }
  }
  const std::string use = in_words(call) + on_device(device) + " of " + in_words(event);
  if (!made) {
    report(ProtocolRule::event_exists, device, use + ", which does not exist");
  } else if (made->device != device) {
    report(ProtocolRule::event_in_its_context, device,
           use + ", which is" + on_device(made->device));
  } else if (context && made->context != *context) {
    report(ProtocolRule::event_in_its_context, device,
           use + ", which is of " + in_words(made->context) + ", in " + in_words(*context));
  }
}

std::optional<ContextHandle> ProtocolChecker::context_of(StreamRef stream) const {
  if (is_default_stream(stream.handle)) return ContextHandle{};
  const std::lock_guard lock(mutex_);
  const auto found = known_.contexts.find(stream);
  if (found == known_.contexts.end()) return std::nullopt;
  return found->second;
}

ProtocolChecker::SpansOut::node_type ProtocolChecker::take_off(Address address) {
  const std::lock_guard lock(mutex_);
  return known_.spans.extract(address);
}

template <class T>
DriverResult<T> ProtocolChecker::ended(DeviceIndex device, DriverResult<T> result) {
  if (!result && is_sticky(result.error())) {
    const std::lock_guard lock(mutex_);
    known_.lost_devices.insert(device);
  }
  return result;
}

DriverResult<Address> ProtocolChecker::malloc(DeviceIndex device, Bytes size) {
  check_device(DriverCall::malloc, device);
  const auto result = below_.malloc(device, size);
  if (result) {
    const std::lock_guard lock(mutex_);
    known_.spans.insert_or_assign(*result, Out{device, size});
  }
  return ended(device, result);
}

DriverResult<Done> ProtocolChecker::free(DeviceIndex device, Address address) {
  check_device(DriverCall::free, device);
  // Off the list before the driver has it: another thread may be given the same address at once.
  auto span = take_off(address);
  if (span.empty()) {
    report(
        ProtocolRule::goes_back_once, device,
        "free of " + in_words(address) + on_device(device) + ", where nothing begins that is out");
  } else if (span.mapped().device != device) {
    report(ProtocolRule::goes_back_to_its_own, device,
           "free of " + in_words(address) + on_device(device) + ", but it is from device " +
               std::to_string(span.mapped().device));
  }
  const auto result = below_.free(device, address);
  if (!result && !span.empty()) {
    const std::lock_guard lock(mutex_);
    known_.spans.insert(std::move(span));
  }
  return ended(device, result);
}

DriverResult<MemoryInfo> ProtocolChecker::mem_info(DeviceIndex device) {
  check_device(DriverCall::mem_info, device);
  return ended(device, below_.mem_info(device));
}

DriverResult<EventHandle> ProtocolChecker::event_create(DeviceIndex device, ContextHandle context) {
  check_device(DriverCall::event_create, device);
  const auto result = below_.event_create(device, context);
  if (!result) return ended(device, result);
  bool is_new = false;
  {
    const std::lock_guard lock(mutex_);
    is_new = known_.events.insert_or_assign(*result, Event{device, context}).second;
  }
  if (!is_new) {
    report(ProtocolRule::event_created_once, device,
           "event_create" + on_device(device) + " gave " + in_words(*result) + ", which exists");
  }
  return result;
}

DriverResult<Done> ProtocolChecker::event_record(StreamRef stream, EventHandle event) {
  check_stream(DriverCall::event_record, stream);
  check_event(DriverCall::event_record, stream.device, event, context_of(stream));
  return ended(stream.device, below_.event_record(stream, event));
}

DriverResult<bool> ProtocolChecker::event_query(DeviceIndex device, EventHandle event) {
  check_device(DriverCall::event_query, device);
  check_event(DriverCall::event_query, device, event);
  return ended(device, below_.event_query(device, event));
}

DriverResult<Done> ProtocolChecker::event_sync(DeviceIndex device, EventHandle event) {
  check_device(DriverCall::event_sync, device);
  check_event(DriverCall::event_sync, device, event);
  return ended(device, below_.event_sync(device, event));
}

DriverResult<Done> ProtocolChecker::event_destroy(DeviceIndex device, EventHandle event) {
  check_device(DriverCall::event_destroy, device);
  check_event(DriverCall::event_destroy, device, event);
  {
    // Before the driver has it: another thread may be given the same event at once.
    const std::lock_guard lock(mutex_);
    known_.events.erase(event);
  }
  return ended(device, below_.event_destroy(device, event));
}

DriverResult<Done> ProtocolChecker::ctx_record(DeviceIndex device, EventHandle event) {
  check_device(DriverCall::ctx_record, device);
  check_event(DriverCall::ctx_record, device, event, ContextHandle{});
  return ended(device, below_.ctx_record(device, event));
}

DriverResult<Done> ProtocolChecker::stream_sync(StreamRef stream) {
  check_stream(DriverCall::stream_sync, stream);
  return ended(stream.device, below_.stream_sync(stream));
}

DriverResult<Done> ProtocolChecker::device_sync(DeviceIndex device) {
  check_device(DriverCall::device_sync, device);
  return ended(device, below_.device_sync(device));
}

DriverResult<ContextHandle> ProtocolChecker::stream_ctx(StreamRef stream) {
  check_stream(DriverCall::stream_ctx, stream);
  const auto result = below_.stream_ctx(stream);
  if (result) {
    const std::lock_guard lock(mutex_);
    known_.contexts.insert_or_assign(stream, *result);
  }
  return ended(stream.device, result);
}

DriverResult<std::uint64_t> ProtocolChecker::stream_id(StreamRef stream) {
  check_stream(DriverCall::stream_id, stream);
  return ended(stream.device, below_.stream_id(stream));
}

}  // namespace cairn
