// The simulated GPU as the allocator sees it: a Driver.
//
// Thread safety: all calls, by the mutex of the simulated GPU.
#pragma once

#include "driver/driver.h"
#include "simulator/simulated_gpu.h"

namespace cairn::simulator {

class SimulatedDriver final : public Driver {
 public:
  explicit SimulatedDriver(SimulatedGpu& gpu) : gpu_(gpu) {}

  int device_count() const override { return gpu_.device_count(); }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    return gpu_.malloc(device, size);
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    return gpu_.free(device, address);
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override { return gpu_.mem_info(device); }
  Bytes total_memory(DeviceIndex device) const override { return gpu_.mem_info(device)->total; }
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    return gpu_.event_create(device, context);
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    return gpu_.event_record(stream, event);
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    return gpu_.event_query(device, event);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    return gpu_.event_sync(device, event);
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    return gpu_.event_destroy(device, event);
  }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    return gpu_.ctx_record(device, event);
  }
  DriverResult<Done> stream_sync(StreamRef stream) override { return gpu_.stream_sync(stream); }
  DriverResult<Done> device_sync(DeviceIndex device) override { return gpu_.device_sync(device); }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return gpu_.stream_ctx(stream);
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    return gpu_.stream_id(stream);
  }

 private:
  SimulatedGpu& gpu_;
};

}  // namespace cairn::simulator
