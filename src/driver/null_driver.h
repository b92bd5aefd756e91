// A driver that costs next to nothing: every allocation gets fresh addresses, and memory never runs
// out. For benchmarks, where the allocator alone is measured; nothing is checked and freed
// addresses never come back.
//
// Thread safety: all calls; the one thing that changes is an atomic.
#pragma once

#include <atomic>

#include "driver/driver.h"

namespace cairn {

class NullDriver final : public Driver {
 public:
  explicit NullDriver(int devices = 1) : devices_(devices) {}

  int device_count() const override { return devices_; }

  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    return Address{next_.fetch_add(round_up(size, granularity).count, std::memory_order_relaxed)};
  }
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{memory, memory}; }

 private:
  static constexpr Bytes granularity{std::uint64_t{2} << 20};
  static constexpr Bytes memory{std::uint64_t{1} << 46};

  int devices_;
  std::atomic<std::uint64_t> next_{std::uint64_t{1} << 44};
};

}  // namespace cairn
