// A driver that costs next to nothing: every allocation gets fresh addresses, memory never runs
// out, and work is done as soon as it is there. For benchmarks, where the allocator alone is
// measured; nothing is checked and freed addresses never come back. All streams are of the primary
// context, and a stream's id is its handle.
//
// Thread safety: all calls; what changes is atomic.
#pragma once

#include <atomic>

#include "driver/driver.h"

namespace cairn {

class NullDriver final : public Driver {
 public:
  explicit NullDriver(int devices = 1) : devices_(devices) {}

  int device_count() const override { return devices_; }
  Bytes total_memory(DeviceIndex) const override { return memory; }

  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    return Address{next_.fetch_add(round_up(size, granularity).count, std::memory_order_relaxed)};
  }
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{memory, memory}; }

  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{next_event_.fetch_add(1, std::memory_order_relaxed)};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef) override { return ContextHandle{}; }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

 private:
  static constexpr Bytes granularity{std::uint64_t{2} << 20};
  static constexpr Bytes memory{std::uint64_t{1} << 46};

  int devices_;
  std::atomic<std::uint64_t> next_{std::uint64_t{1} << 44};
  std::atomic<std::uint64_t> next_event_{1};
};

}  // namespace cairn
