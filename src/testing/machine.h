// The allocator and what is below it, as a Program declares them: settings, devices, the simulated
// GPU, faults, and the record of all driver calls.
//
// Not thread-safe.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "allocator/all_devices.h"
#include "driver/fault_injector.h"
#include "driver/recording_driver.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"
#include "testing/hooked_driver.h"

namespace cairn::testing {

class Machine {
 public:
  using WrapDriver = std::function<std::unique_ptr<Driver>(Driver& recorded)>;

  // `hook` hears of each call of the driver, below what `wrap` makes; this may be null.
  Machine(const std::vector<simulator::DeviceOptions>& devices, const Options& options,
          DriverHook& hook, const WrapDriver& wrap);

  AllDevices& allocator() { return *allocator_; }
  const AllDevices& allocator() const { return *allocator_; }
  // Destroys the allocator, after which it must not be asked for.
  void end_allocator() { allocator_.reset(); }
  simulator::SimulatedGpu& gpu() { return gpu_; }
  const simulator::SimulatedGpu& gpu() const { return gpu_; }
  FaultInjector& faults() { return faults_; }
  const FaultInjector& faults() const { return faults_; }

  // Memory that the allocator has from the start. REQUIRES: the simulated GPU placed it.
  void adopt(DeviceIndex device, const SegmentLayout& layout);

  // The calls that the allocator made since the last time.
  std::vector<RecordedCall> take_calls();
  std::uint64_t calls(DriverCall call, DeviceIndex device) const;
  void reset_calls();
  // The memory that the allocator has from the driver and did not give back.
  std::vector<Span> spans_out(DeviceIndex device) const;

 private:
  struct Counts {  // Of one device.
    std::array<std::uint64_t, driver_call_count> calls{};
    std::map<Address, Bytes> out;
  };

  simulator::SimulatedGpu gpu_;
  simulator::SimulatedDriver driver_;
  FaultInjector faults_;
  RecordingDriver recorder_;
  HookedDriver hooked_;
  std::unique_ptr<Driver> wrapper_;
  std::vector<Counts> counts_;
  std::optional<AllDevices> allocator_;
};

}  // namespace cairn::testing
