// Where the memory of the simulated devices lies: addresses alone, no bytes. One space for all
// devices, as CUDA has it, so no two allocations overlap whatever their devices.
//
// An allocation occupies its size rounded up to 2 MiB, its footprint. By itself it lands at the
// lowest address above all that its device was given before, counted from the device's own start,
// and keeps a gap of 2 MiB behind it (none where the device is `adjacent`). What was given back is
// not used again, unless the device reuses addresses: then the lowest freed range in which
// footprint and gap fit.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "simulator/freed_ranges.h"

namespace cairn::simulator {

inline constexpr Bytes allocation_granularity{std::uint64_t{2} << 20};

// Beyond it there are no addresses, as on the machines of today.
inline constexpr Address address_limit{std::uint64_t{1} << 57};

// Device d's memory starts at 0x100000000000 + d * 2^40.
Address first_address(DeviceIndex device);

// How a device lays out its allocations.
struct Layout {
  bool adjacent = false;
  bool reuse_addresses = false;
};

struct Allocation {
  DeviceIndex device = 0;
  Span span;  // As asked for.

  Span footprint() const { return {span.begin, round_up(span.size, allocation_granularity)}; }
};

class AddressSpace {
 public:
  explicit AddressSpace(const std::vector<Layout>& devices);

  // In the functions below the device exists, and a size is positive and at most address_limit.

  // A new allocation, where the rules above put it.
  Address allocate(DeviceIndex device, Bytes size);
  // A new allocation at that very address. REQUIRES: nothing overlaps its footprint, nor does it
  // pass 2^64.
  void allocate_at(DeviceIndex device, Span span);
  // REQUIRES: an allocation begins at `address`.
  void give_back(Address address);

  // Null where there is none. The pointer is good until the allocation is given back.
  const Allocation* beginning_at(Address address) const;
  const Allocation* containing(Address address) const;
  // The lowest allocation whose footprint overlaps the span.
  const Allocation* overlapping(Span span) const;
  // Whether the address was once in an allocation, and is in none since.
  bool was_given_back(Address address) const;

 private:
  struct Device {
    Layout layout;
    Bytes gap;
    Address next;       // Addresses from here on were never given by allocate().
    FreedRanges freed;  // Given back by it and in no use since, with the gaps behind them.
  };

  Address lowest_unused(DeviceIndex device, Bytes room) const;
  void forget_freed(Span taken);  // It is in use again, whoever gave it back.

  std::vector<Device> devices_;
  std::map<Address, Allocation> allocations_;
};

}  // namespace cairn::simulator
