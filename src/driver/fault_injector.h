// A decorator that makes chosen calls fail: those calls never reach the driver below. It is how a
// test meets a device that is full, or broken, at the very call that it wants.
//
// Thread safety: all members. A mutex guards the plans and is not held while the driver below
// works.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn {

// "The `at`th call of this kind from here on, and the `count - 1` after it, fail with `error`, on
// whatever device and thread they come."
struct FaultPlan {
  DriverCall call = DriverCall::malloc;
  std::uint64_t at = 1;                    // From 1.
  CudaStatus error = CudaStatus::unknown;  // Not success.
  std::optional<std::uint64_t> count = 1;  // None: every call from `at` on.
  // The device on which the plan fires is lost: whatever is asked of it later fails with `error`.
  bool sticky = false;
};

class FaultInjector final : public Driver {
 public:
  explicit FaultInjector(Driver& below) : below_(below) {}

  // Counting starts here. Where several plans are due at one call, the oldest gives its error.
  void add(const FaultPlan& plan);
  // No call fails from here on, on devices that were lost neither.
  void clear();

  // The plans that never made a call fail, oldest first.
  std::vector<FaultPlan> unfired() const;

  int device_count() const override { return below_.device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_.total_memory(device); }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return below_.processes(device);
  }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override;
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override;
  DriverResult<Done> stream_sync(StreamRef stream) override;
  DriverResult<Done> device_sync(DeviceIndex device) override;
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override;
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override;

 private:
  struct Progress {
    FaultPlan plan;
    std::uint64_t calls_seen = 0;
    bool fired = false;
  };

  // The error with which this call must fail, if it must. Counts the call.
  std::optional<CudaStatus> due(DriverCall call, DeviceIndex device);
  // What below() gives, unless the call must fail.
  template <class Below>
  auto unless_due(DriverCall call, DeviceIndex device, Below&& below) -> decltype(below()) {
    if (const auto error = due(call, device)) return Failure{*error};
    return below();
  }

  Driver& below_;
  mutable std::mutex mutex_;
  std::vector<Progress> plans_;
  std::map<DeviceIndex, CudaStatus> lost_devices_;
};

}  // namespace cairn
