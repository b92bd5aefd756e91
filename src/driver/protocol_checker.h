// A decorator that watches how a driver is used: every span that the driver gave goes back exactly
// once, to the device that it is from, and no call names a device that does not exist. What breaks
// a rule is told to a handler and passed on all the same, so that the caller also meets the
// driver's answer. A free that fails has given nothing back.
//
// Thread safety: all members. A mutex guards the list of spans and is held neither while the driver
// below works nor while the handler runs; the handler may be called from several threads at a time.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "driver/driver.h"

namespace cairn {

enum class ProtocolRule {
  known_device,         // A call names one of the driver's devices.
  goes_back_once,       // What is freed is out: given by malloc, at this address, not freed since.
  goes_back_to_its_own  // A span is freed on the device that it was allocated on.
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

  // For the end, when all memory must be back: each span that is still out breaks `goes_back_once`.
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

  void check_device(DeviceIndex device, const char* call) const;
  // Takes the span that begins at `address` off the list; an empty node where there is none.
  SpansOut::node_type take_off(Address address);

  Driver& below_;
  Handler handler_;
  mutable std::mutex mutex_;
  SpansOut out_;
};

}  // namespace cairn
