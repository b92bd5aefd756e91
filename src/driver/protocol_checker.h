// A decorator that watches how a driver is used: that devices exist and are not lost, that memory
// and events go back exactly once and to where they are from, that events are used while they
// exist and in their own context, and that no call names a stream that is known to have ended.
// What breaks a rule is told to a handler and passed on all the same, so that the caller also meets
// the driver's answer.
//
// A free that fails has given nothing back; a destroy that fails leaves an event of which nothing
// is known, and that may not be used any more. Of the context of a stream the checker knows what
// stream_ctx last said, and that default streams are of the primary one. A call that begins on one
// thread after another's has come back with a sticky code is one for a lost device, even if that
// thread cannot know of it yet.
//
// Thread safety: all members. A mutex guards what is known and is held neither while the driver
// below works nor while the handler runs; the handler may be called from several threads at a time.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn {

enum class ProtocolRule {
  known_device,          // A call names one of the driver's devices.
  device_not_lost,       // No call comes for a device after one failed with a sticky code.
  goes_back_once,        // What is freed is out: given by malloc, at this address, not freed since.
  goes_back_to_its_own,  // A span is freed on the device that it was allocated on.
  event_exists,          // An event is used after its creation and before its destruction.
  event_created_once,    // No event is given that exists already.
  event_in_its_context,  // An event is used with its device, and recorded in its context.
  event_destroyed,       // Every event is destroyed in the end.
  stream_exists          // A stream whose end was told is not named.
};

struct ProtocolViolation {
  ProtocolRule rule = ProtocolRule::known_device;
  DeviceIndex device = 0;  // As the call named it.
  std::string message;
};

class ProtocolChecker final : public Driver {
 public:
  using Handler = std::function<void(const ProtocolViolation&)>;

  ProtocolChecker(Driver& below, Handler handler) : below_(below), handler_(std::move(handler)) {}

  // Tells of a stream's end, after which no call may name its handle; and that the handle is one of
  // a new stream. Default streams do not end.
  void stream_ended(std::uint64_t handle);
  void stream_began(std::uint64_t handle);

  // For the end, when all memory and all events must be back: each span that is still out breaks
  // `goes_back_once`, each event `event_destroyed`. Those of lost devices need not be.
  void expect_all_back() const;

  int device_count() const override { return below_.device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_.total_memory(device); }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return below_.processes(device);
  }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> stream_sync(StreamRef stream) override;
  DriverResult<Done> device_sync(DeviceIndex device) override;
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override;
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override;

 private:
  struct Out {
    DeviceIndex device = 0;
    Bytes size;
  };
  using SpansOut = std::map<Address, Out>;
  struct Event {
    DeviceIndex device = 0;
    ContextHandle context;
  };
  struct Known {
    SpansOut spans;
    std::map<EventHandle, Event> events;
    std::map<StreamRef, ContextHandle> contexts;  // Of streams, as stream_ctx said.
    std::set<std::uint64_t> ended_streams;
    std::set<DeviceIndex> lost_devices;
  };

  void report(ProtocolRule rule, DeviceIndex device, const std::string& message) const {
    handler_({rule, device, message});
  }
  void check_device(DriverCall call, DeviceIndex device) const;
  void check_stream(DriverCall call, StreamRef stream) const;
  // `context`: where the call uses the event; none: anywhere on the device.
  void check_event(DriverCall call, DeviceIndex device, EventHandle event,
                   std::optional<ContextHandle> context = std::nullopt) const;
  std::optional<ContextHandle> context_of(StreamRef stream) const;
  // Takes the span that begins at `address` off the list; an empty node where there is none.
  SpansOut::node_type take_off(Address address);
  // Notes whether the device was lost by a call that ended so, and passes the result on.
  template <class T>
  DriverResult<T> ended(DeviceIndex device, DriverResult<T> result);

  Driver& below_;
  Handler handler_;
  mutable std::mutex mutex_;
  Known known_;
};

}  // namespace cairn
