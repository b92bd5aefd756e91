// For tests: a driver that passes every call on, for those who change one.
#pragma once

#include "driver/driver.h"

namespace cairn::testing {

class Liar : public Driver {
 public:
  explicit Liar(Driver& below) : below_(below) {}
  int device_count() const override { return below_.device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_.total_memory(device); }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    return below_.malloc(device, size);
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    return below_.free(device, address);
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override { return below_.mem_info(device); }
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    return below_.event_create(device, context);
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    return below_.event_record(stream, event);
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    return below_.event_query(device, event);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    return below_.event_sync(device, event);
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    return below_.event_destroy(device, event);
  }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    return below_.ctx_record(device, event);
  }
  DriverResult<Done> stream_sync(StreamRef stream) override { return below_.stream_sync(stream); }
  DriverResult<Done> device_sync(DeviceIndex device) override { return below_.device_sync(device); }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return below_.stream_ctx(stream);
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    return below_.stream_id(stream);
  }

 protected:
  Driver& below_;
};

}  // namespace cairn::testing
