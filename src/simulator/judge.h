// What the simulated GPU sees an allocator do wrong. It is told which ranges the program holds, and
// compares them with each other and with the memory that the driver has out.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "simulator/address_space.h"
#include "simulator/live_ranges.h"

namespace cairn::simulator {

enum class ViolationKind {
  not_out,           // A range was handed out that lies in no memory the driver has out there.
  overlap,           // A range was handed out that overlaps one which the program holds.
  not_held,          // A range was taken back that the program does not hold.
  freed_while_held,  // Memory went back to the driver that holds a range of the program's.
  bad_free           // The driver was given back what it had not given out, or not there.
};

struct Violation {
  ViolationKind kind = ViolationKind::not_out;
  DeviceIndex device = 0;
  std::string message;  // Names the addresses.
};

class Judge {
 public:
  Judge(const AddressSpace& memory, std::size_t devices) : memory_(memory), held_(devices) {}

  // In the functions below the device exists, and ranges are not empty.

  // From now on the program holds the range, right or wrong.
  void hand_out(DeviceIndex device, Span range);
  void take_back(DeviceIndex device, Span range);
  // The driver is about to have the allocation back.
  void on_free(const Allocation& allocation);
  // The driver refused to take the address back.
  void on_bad_free(DeviceIndex device, Address address);

  std::uint64_t overlaps(DeviceIndex device) const { return held(device).overlaps(); }
  const std::vector<Violation>& violations() const { return violations_; }

 private:
  LiveRanges& held(DeviceIndex device) { return held_[static_cast<std::size_t>(device)]; }
  const LiveRanges& held(DeviceIndex device) const {
    return held_[static_cast<std::size_t>(device)];
  }
  void report(ViolationKind kind, DeviceIndex device, std::string message);

  const AddressSpace& memory_;
  std::vector<LiveRanges> held_;  // By device.
  std::vector<Violation> violations_;
};

}  // namespace cairn::simulator
