// All devices of a machine that has none: their memory as addresses, never touched, and a judge
// that sees memory given out or given back wrongly. Deterministic: the same calls give the same
// answers.
//
// Each allocation takes its size rounded up to 2 MiB off the device's memory, and lands where
// AddressSpace puts it.
//
// Thread safety: all members; one mutex guards everything.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "driver/driver.h"
#include "simulator/address_space.h"
#include "simulator/judge.h"

namespace cairn::simulator {

struct DeviceOptions {
  Bytes memory{std::uint64_t{80} << 30};  // At most address_limit.
  bool adjacent = false;
  bool reuse_addresses = false;
};

class SimulatedGpu {
 public:
  explicit SimulatedGpu(const std::vector<DeviceOptions>& devices = {DeviceOptions{}});
  SimulatedGpu(const SimulatedGpu&) = delete;
  SimulatedGpu& operator=(const SimulatedGpu&) = delete;

  int device_count() const { return static_cast<int>(devices_.size()); }

  // ---- the driver's calls ----
  DriverResult<Address> malloc(DeviceIndex device, Bytes size);
  DriverResult<Done> free(DeviceIndex device, Address address);
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) const;

  // ---- what a program says of its machine. A refusal says why, and changes nothing ----

  // Memory that the driver has out already when the program starts, at any unused address.
  Result<Done, std::string> place(DeviceIndex device, Span span);
  // Where the device's next allocation that succeeds will be, once, instead of where it would be by
  // itself. Whether all of it is unused shows then; if not, it lands where it would by itself, and
  // mistakes() tells.
  Result<Done, std::string> set_next_address(DeviceIndex device, Address address);
  std::vector<std::string> mistakes() const;

  // ---- the judge. REQUIRES: the device exists; ranges are not empty ----

  // Tells which memory the program holds: it was handed the range, or gave it back to the
  // allocator.
  void hand_out(DeviceIndex device, Span range);
  void take_back(DeviceIndex device, Span range);

  // Number of pairs of overlapping ranges that the program holds now.
  std::uint64_t overlaps(DeviceIndex device) const;
  // Memory minus what the driver has given out. REQUIRES: the device exists.
  Bytes device_free(DeviceIndex device) const;
  // All that was seen since the start, on all devices, in order.
  std::vector<Violation> violations() const;
  std::size_t violation_count() const;

 private:
  struct Device {
    Bytes memory;
    Bytes used;
    std::optional<Address> next_address;
  };

  bool exists(DeviceIndex device) const { return 0 <= device && device < device_count(); }
  Device& at(DeviceIndex device) { return devices_[static_cast<std::size_t>(device)]; }
  const Device& at(DeviceIndex device) const { return devices_[static_cast<std::size_t>(device)]; }
  Bytes left(DeviceIndex device) const { return at(device).memory - at(device).used; }
  // Why no allocation can be at that span, whatever is left of the device's memory; none: it can.
  std::optional<std::string> obstacle(Span span) const;
  Address find_place(DeviceIndex device, Bytes size);

  mutable std::mutex mutex_;
  std::vector<Device> devices_;
  AddressSpace memory_;
  Judge judge_;
  std::vector<std::string> mistakes_;
};

}  // namespace cairn::simulator
