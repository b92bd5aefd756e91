// A driver that watches all that the allocator asks, and judges on its own what is promised of a
// device that is lost and of what must go back.
//
// What is lost is the allocator of a device, whose calls may also be for streams of other devices.
// Who made a call is not seen here. So where there are several devices only calls of memory, which
// each allocator makes for its own, are judged (the rest is for lockstep), and after a loss each
// device may be lost.
//
// Not thread-safe: the threads of a Program run one after another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn::faults {

struct WatchedCall {
  DriverCall call = DriverCall::malloc;
  DeviceIndex device = 0;
  CudaStatus status = CudaStatus::success;
  const void* site = nullptr;  // Where the call returns to: its place in the allocator.
};

// What was seen. Outlives the driver, whose end it sees too.
struct Watched {
  std::vector<WatchedCall> calls;
  std::vector<std::string> wrong;  // Calls for a lost device.
  std::set<DeviceIndex> lost;      // Surely.
  bool is_one_device = true;
  bool is_any_lost = false;

  bool may_be_lost(DeviceIndex device) const {
    return is_one_device ? lost.contains(device) : is_any_lost;
  }

  // Memory and events that were given and did not go back, nor failed to go back, on devices that
  // are not lost. For the end.
  std::vector<std::string> left_over() const;
  // Whether a call other than those that give back failed.
  bool has_failed_wait() const;

  using Out = std::map<std::pair<DeviceIndex, std::uint64_t>, bool>;  // Whether it failed to go.
  Out memory;
  Out events;
};

class Watch : public Driver {
 public:
  Watch(Driver& below, Watched& watched) : below_(below), watched_(watched) {
    watched_.is_one_device = below.device_count() == 1;
  }

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
  template <class T>
  DriverResult<T> watched(WatchedCall call, DriverResult<T> result);
  void begin(DriverCall call, DeviceIndex device);
  // Whether it is the device's own allocator that makes such a call.
  bool is_own(DriverCall call) const;

  Driver& below_;
  Watched& watched_;
};

}  // namespace cairn::faults
