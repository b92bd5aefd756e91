#include "simulator/address_space.h"

#include <algorithm>

#include "simulator/spans.h"

namespace cairn::simulator {
namespace {

Span footprint_of(const Allocation& allocation) { return allocation.footprint(); }

Bytes rounded(Bytes size) { return round_up(size, allocation_granularity); }

}  // namespace

Address first_address(DeviceIndex device) {
  return Address{0x100000000000} + Bytes{std::uint64_t{1} << 40} * static_cast<unsigned>(device);
}

AddressSpace::AddressSpace(const std::vector<Layout>& devices) {
  for (const Layout& layout : devices) {
    const auto index = static_cast<DeviceIndex>(devices_.size());
    const Bytes gap = layout.adjacent ? Bytes{0} : allocation_granularity;
    devices_.push_back({layout, gap, first_address(index), {}});
  }
}

Address AddressSpace::lowest_unused(DeviceIndex index, Bytes room) const {
  const Device& device = devices_[static_cast<std::size_t>(index)];
  if (device.layout.reuse_addresses) {
    if (const auto freed = device.freed.lowest_with(room)) return *freed;
  }
  // Memory that was placed by address may stand, or have stood, in the way.
  Span wanted{device.next, room};
  for (;;) {
    Address past = wanted.begin;
    if (const Allocation* allocation = overlapping(wanted)) {
      past = allocation->footprint().end() + device.gap;
    }
    for (const Device& each : devices_)
      past = std::max(past, each.freed.end_of_range_in(wanted).value_or(past));
    if (past == wanted.begin) return past;
    wanted.begin = round_up(past, allocation_granularity);
  }
}

Address AddressSpace::allocate(DeviceIndex index, Bytes size) {
  Device& device = devices_[static_cast<std::size_t>(index)];
  const Bytes room = rounded(size) + device.gap;
  const Span taken{lowest_unused(index, room), room};
  forget_freed(taken);
  device.next = std::max(device.next, taken.end());
  allocations_.emplace(taken.begin, Allocation{index, {taken.begin, size}});
  return taken.begin;
}

void AddressSpace::allocate_at(DeviceIndex index, Span span) {
  const Allocation allocation{index, span};
  forget_freed(allocation.footprint());
  allocations_.emplace(span.begin, allocation);
}

void AddressSpace::forget_freed(Span taken) {
  for (Device& device : devices_) device.freed.remove(taken);
}

void AddressSpace::give_back(Address address) {
  const auto allocation = allocations_.find(address);
  const Span taken = allocation->second.footprint();
  Device& device = devices_[static_cast<std::size_t>(allocation->second.device)];
  const auto next = allocations_.erase(allocation);
  // The gap behind it, but for what was placed there.
  Address end = taken.end() + device.gap;
  if (next != allocations_.end()) end = std::min(end, next->first);
  device.freed.add({taken.begin, end - taken.begin});
}

const Allocation* AddressSpace::beginning_at(Address address) const {
  const auto found = allocations_.find(address);
  return found == allocations_.end() ? nullptr : &found->second;
}

const Allocation* AddressSpace::containing(Address address) const {
  if (address >= address_limit) return nullptr;
  return overlapping({address, Bytes{1}});
}

const Allocation* AddressSpace::overlapping(Span span) const {
  const auto found = first_overlapping(allocations_, span, footprint_of);
  return found == allocations_.end() ? nullptr : &found->second;
}

bool AddressSpace::was_given_back(Address address) const {
  if (address >= address_limit) return false;
  return std::any_of(devices_.begin(), devices_.end(),
                     [address](const Device& device) { return device.freed.contains(address); });
}

}  // namespace cairn::simulator
