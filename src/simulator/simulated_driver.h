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

 private:
  SimulatedGpu& gpu_;
};

}  // namespace cairn::simulator
