#include "preload/segment_driver.h"

namespace cairn::preload {

bool SegmentDriver::has(Address address) const {
  const std::lock_guard lock(mutex_);
  auto after = segments_.upper_bound(address);
  if (after == segments_.begin()) return false;
  --after;
  return Span{after->first, after->second}.contains(address);
}

DriverResult<Address> SegmentDriver::malloc(DeviceIndex device, Bytes size) {
  Segments fresh{{Address{}, size}};  // Made first: a call that throws has done nothing.
  auto segment = fresh.extract(fresh.begin());
  DriverResult<Address> given = below_->malloc(device, size);
  if (!given) return given;
  ++mallocs_;
  segment.key() = *given;
  const std::lock_guard lock(mutex_);
  segments_.insert(std::move(segment));
  return given;
}

DriverResult<Done> SegmentDriver::free(DeviceIndex device, Address address) {
  Segments::node_type segment;
  {  // Before the driver has it: it may give the same to somebody else at once.
    const std::lock_guard lock(mutex_);
    segment = segments_.extract(address);
  }
  DriverResult<Done> freed = below_->free(device, address);
  if (freed) {
    ++frees_;
  } else {
    const std::lock_guard lock(mutex_);
    segments_.insert(std::move(segment));
  }
  return freed;
}

}  // namespace cairn::preload
