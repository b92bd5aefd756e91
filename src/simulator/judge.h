// What the simulated GPU sees an allocator do wrong. It is told which ranges the program holds, and
// compares them with each other and with the memory that the driver has out. It is told of all
// kernels, and sees whether those that use the same bytes for different ownerships of them are
// ordered. Some of that is the program's own fault: a mistake.
//
// A conflict of two accesses is the program's mistake
//  - if the later one does not come after the work that stood on the range's own stream when it was
//    handed out (nor does any, of a range that was handed out for a stream which is no more), or
//  - if the earlier one was untold when its range was given back.
// Memory given back to the driver under a running kernel is a violation but for the second reason.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "simulator/accesses.h"
#include "simulator/address_space.h"
#include "simulator/host_view.h"
#include "simulator/live_ranges.h"
#include "simulator/streams.h"

namespace cairn::simulator {

enum class ViolationKind {
  not_out,             // A range was handed out that lies in no memory the driver has out there.
  overlap,             // A range was handed out that overlaps one which the program holds.
  not_held,            // A range was taken back that the program does not hold.
  freed_while_held,    // Memory went back to the driver that holds a range of the program's.
  bad_free,            // The driver was given back what it had not given out, or not there.
  unordered_reuse,     // Bytes were handed out again and used unordered with their earlier use.
  freed_while_in_use,  // Memory went back to the driver under a running kernel.
  used_while_not_out,  // A kernel uses memory that the driver does not have out.
  dead_handle  // A call with an event or a stream that the caller knew, or ought to know, dead.
};

struct Violation {
  ViolationKind kind = ViolationKind::not_out;
  DeviceIndex device = 0;
  std::string message;  // Names the addresses.
};

// What a kernel does to memory.
struct Touch {
  DeviceIndex device = 0;  // That the memory is of.
  Span range;
  bool read_only = false;
};

class Judge {
 public:
  Judge(const AddressSpace& memory, const Streams& streams, const HostView& host)
      : memory_(memory),
        streams_(streams),
        host_(host),
        accesses_(host),
        held_(streams.device_count()) {}

  // In the functions below the device exists, and ranges are not empty.

  // From now on the program holds the range, right or wrong, for work on `owner`.
  void hand_out(DeviceIndex device, Span range, StreamNumber owner);
  // The allocator has been told of work on `recorded`.
  void take_back(DeviceIndex device, Span range, const std::vector<StreamNumber>& recorded);
  bool is_held(DeviceIndex device, Span range) const {
    return held(device).containing(range) != nullptr;
  }
  // A range that the program was not told to hold is in no ownership: whoever uses it knows what
  // he does, as long as the driver has it out.
  void on_kernel(const Kernel& kernel, const std::vector<Touch>& touches);

  // The driver is about to have the allocation back.
  void on_free(const Allocation& allocation, Ticks now);
  // The program ends the context that the allocation is of: whatever it holds there is no more.
  void on_reset(const Allocation& allocation);
  // The driver refused to take the address back.
  void on_bad_free(DeviceIndex device, Address address);
  // A driver call was made with something that does not exist.
  void on_dead_handle(DeviceIndex device, std::string message);
  void on_mistake(std::string message) { mistakes_.push_back(std::move(message)); }

  std::uint64_t overlaps(DeviceIndex device) const { return held(device).overlaps(); }
  const std::vector<Violation>& violations() const { return violations_; }
  const std::vector<std::string>& mistakes() const { return mistakes_; }

  const LiveRanges& held(DeviceIndex device) const {
    return held_[static_cast<std::size_t>(device)];
  }
  const Accesses& accesses() const { return accesses_; }

  // What need not be remembered.
  void prune() { accesses_.prune(); }
  std::size_t size() const { return accesses_.size(); }
  std::unordered_set<StreamNumber> streams_of_accesses() const { return accesses_.streams(); }
  std::unordered_set<StreamNumber> owners() const;

 private:
  LiveRanges& held(DeviceIndex device) { return held_[static_cast<std::size_t>(device)]; }
  void report(ViolationKind kind, DeviceIndex device, std::string message);
  void use(const Kernel& kernel, const Touch& touch);
  // Whether the kernel comes after the work that stood on the range's own stream at the start.
  bool comes_after_start(const Kernel& kernel, const Ownership& ownership) const;

  const AddressSpace& memory_;
  const Streams& streams_;
  const HostView& host_;
  Accesses accesses_;
  std::vector<LiveRanges> held_;  // By device.
  OwnershipNumber ownerships_ = 0;
  std::vector<Violation> violations_;
  std::vector<std::string> mistakes_;
};

}  // namespace cairn::simulator
