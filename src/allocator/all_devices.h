// The allocators of all devices behind the public face: checks what the caller passed, finds the
// device, and passes on. World and the checkers look in here.
//
// Thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "allocator/device_allocator.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/allocator.h"

namespace cairn {

class AllDevices {
 public:
  AllDevices(Driver& driver, const Options& options);

  // Address 0 for a request of 0 bytes.
  Result<Address, Error> allocate(const Request& request);
  Result<Done, Error> free(Address address, const FreeCheck* check);
  Result<Done, Error> empty_cache();

  int device_count() const { return static_cast<int>(devices_.size()); }
  // REQUIRES: 0 <= index < device_count().
  DeviceAllocator& device(DeviceIndex index) { return *devices_[static_cast<std::size_t>(index)]; }
  // Null where there is no such device.
  DeviceAllocator* find_device(DeviceIndex index);

 private:
  std::vector<std::unique_ptr<DeviceAllocator>> devices_;
};

// Both names of the legacy default stream are one stream.
StreamId identify(Stream stream);

}  // namespace cairn
