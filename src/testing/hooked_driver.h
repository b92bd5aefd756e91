// A decorator that says of every call when it begins and when it is over.
// Thread safety: as that of the hook, and of the driver below.
#pragma once

#include <vector>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn::testing {

class DriverHook {
 public:
  virtual ~DriverHook() = default;
  virtual void before(DriverCall call, DeviceIndex device) = 0;
  virtual void after() = 0;
};

class HookedDriver final : public Driver {
 public:
  HookedDriver(DriverHook& hook, Driver& below) : hook_(hook), below_(below) {}

  int device_count() const override { return below_.device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_.total_memory(device); }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return below_.processes(device);
  }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    const Around around(hook_, DriverCall::malloc, device);
    return below_.malloc(device, size);
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    const Around around(hook_, DriverCall::free, device);
    return below_.free(device, address);
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    const Around around(hook_, DriverCall::mem_info, device);
    return below_.mem_info(device);
  }
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    const Around around(hook_, DriverCall::event_create, device);
    return below_.event_create(device, context);
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    const Around around(hook_, DriverCall::event_record, stream.device);
    return below_.event_record(stream, event);
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    const Around around(hook_, DriverCall::event_query, device);
    return below_.event_query(device, event);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    const Around around(hook_, DriverCall::event_sync, device);
    return below_.event_sync(device, event);
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    const Around around(hook_, DriverCall::event_destroy, device);
    return below_.event_destroy(device, event);
  }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    const Around around(hook_, DriverCall::ctx_record, device);
    return below_.ctx_record(device, event);
  }
  DriverResult<Done> stream_sync(StreamRef stream) override {
    const Around around(hook_, DriverCall::stream_sync, stream.device);
    return below_.stream_sync(stream);
  }
  DriverResult<Done> device_sync(DeviceIndex device) override {
    const Around around(hook_, DriverCall::device_sync, device);
    return below_.device_sync(device);
  }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    const Around around(hook_, DriverCall::stream_ctx, stream.device);
    return below_.stream_ctx(stream);
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    const Around around(hook_, DriverCall::stream_id, stream.device);
    return below_.stream_id(stream);
  }

 private:
  class Around {
   public:
    Around(DriverHook& hook, DriverCall call, DeviceIndex device) : hook_(hook) {
      hook_.before(call, device);
    }
    Around(const Around&) = delete;
    Around& operator=(const Around&) = delete;
    ~Around() { hook_.after(); }

   private:
    DriverHook& hook_;
  };

  DriverHook& hook_;
  Driver& below_;
};

}  // namespace cairn::testing
