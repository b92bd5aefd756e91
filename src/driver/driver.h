// The seam to CUDA: the few calls that the allocator makes of a driver. A Driver is the real one,
// the simulated GPU's, or a decorator over another. Calls name the device; none depends on, or
// changes, the calling thread's current device or context.
//
// A call throws nothing but std::bad_alloc, and then it has done nothing.
//
// Thread safety: an implementation can be called from several threads at a time.
#pragma once

static_assert(__cplusplus >= 202002L, "A Driver of one's own needs C++20: -std=c++20 or later");

#include <compare>
#include <cstdint>
#include <vector>

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

// A stream as CUDA names it (CUstream). 0 and 1 are the legacy default stream of the device's
// primary context, 2 is the calling thread's per-thread default stream there.
struct StreamRef {
  DeviceIndex device = 0;
  std::uint64_t handle = 0;

  friend constexpr auto operator<=>(const StreamRef&, const StreamRef&) = default;
};
inline constexpr std::uint64_t legacy_stream_handle = 1;      // CU_STREAM_LEGACY
inline constexpr std::uint64_t per_thread_stream_handle = 2;  // CU_STREAM_PER_THREAD

// A context of a device (CUcontext); 0 is the device's primary context.
struct ContextHandle {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const ContextHandle&, const ContextHandle&) = default;
};

// An event (CUevent); never 0.
struct EventHandle {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const EventHandle&, const EventHandle&) = default;
};

// What another process, or this one, has of a device's memory.
struct ProcessMemory {
  std::uint32_t pid = 0;
  Bytes used;
};

class Driver {
 public:
  virtual ~Driver() = default;

  // ---- facts, which no Program counts as calls. REQUIRES: the device exists ----

  // Number of devices; the same for the life of the driver.
  virtual int device_count() const = 0;
  // cuDeviceTotalMem; the same for the life of the driver.
  virtual Bytes total_memory(DeviceIndex device) const = 0;
  // nvmlDeviceGetComputeRunningProcesses: who has memory of the device; empty where it is not
  // known.
  virtual std::vector<ProcessMemory> processes(DeviceIndex) const { return {}; }

  // ---- memory ----

  // cuMemAlloc: `size` bytes of device memory; the address is a multiple of 512 at least.
  virtual DriverResult<Address> malloc(DeviceIndex device, Bytes size) = 0;
  // cuMemFree: gives back what malloc() gave, whole. May wait for the device's work, or not.
  virtual DriverResult<Done> free(DeviceIndex device, Address address) = 0;
  // cuMemGetInfo: how much memory the device has, and how much of it is free.
  virtual DriverResult<MemoryInfo> mem_info(DeviceIndex device) = 0;

  // ---- events. They carry no time; those of one device are never passed with another ----

  // cuEventCreate in that context, with CU_EVENT_DISABLE_TIMING.
  virtual DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) = 0;
  // cuEventRecord: the event is done once all is that is on the stream now. An event that was
  // recorded before stands for the new moment alone. Event and stream are of one context, else
  // invalid_handle; so is a stream that was destroyed.
  virtual DriverResult<Done> event_record(StreamRef stream, EventHandle event) = 0;
  // cuEventQuery: whether it is done; an event that was never recorded is.
  virtual DriverResult<bool> event_query(DeviceIndex device, EventHandle event) = 0;
  // cuEventSynchronize: waits until it is done.
  virtual DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) = 0;
  // cuEventDestroy, at any time.
  virtual DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) = 0;
  // cuCtxRecordEvent: the event is done once all is that is on any stream of the device's primary
  // context now. not_supported before CUDA 12.5. REQUIRES: the event is of that context.
  virtual DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) = 0;

  // ---- streams. A stream that was destroyed is invalid_handle ----

  // cuStreamSynchronize: waits for all work on the stream.
  virtual DriverResult<Done> stream_sync(StreamRef stream) = 0;
  // cuCtxSynchronize: waits for all work in the device's primary context.
  virtual DriverResult<Done> device_sync(DeviceIndex device) = 0;
  // cuStreamGetCtx: the context that the stream is of; 0 if it is the device's primary one.
  virtual DriverResult<ContextHandle> stream_ctx(StreamRef stream) = 0;
  // cuStreamGetId: a number that no other stream of the process ever has.
  virtual DriverResult<std::uint64_t> stream_id(StreamRef stream) = 0;
};

}  // namespace cairn
