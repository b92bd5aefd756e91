// The seam to CUDA: the few calls that the allocator makes of a driver. A Driver is the real one,
// the simulated GPU's, or a decorator over another. Calls name the device; none depends on, or
// changes, the calling thread's current device.
//
// Thread safety: an implementation can be called from several threads at a time.
#pragma once

#include "base/ids.h"
#include "base/result.h"
#include "base/units.h"
#include "driver/cuda_status.h"

namespace cairn {

// What a call of the driver gives: a value, or the CUDA code of its failure (never `success`).
template <class T>
using DriverResult = Result<T, CudaStatus>;

struct MemoryInfo {
  Bytes free;
  Bytes total;
};

class Driver {
 public:
  virtual ~Driver() = default;

  // Number of devices; the same for the life of the driver.
  virtual int device_count() const = 0;

  // cuMemAlloc: `size` bytes of device memory; the address is a multiple of 512 at least.
  virtual DriverResult<Address> malloc(DeviceIndex device, Bytes size) = 0;

  // cuMemFree: gives back what malloc() gave, whole. May wait for the device's work, or not.
  virtual DriverResult<Done> free(DeviceIndex device, Address address) = 0;

  // cuMemGetInfo: how much memory the device has, and how much of it is free.
  virtual DriverResult<MemoryInfo> mem_info(DeviceIndex device) = 0;
};

}  // namespace cairn
