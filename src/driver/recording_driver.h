// A decorator that writes down every call and its answer, and counts the calls by kind. Every
// attempt counts, so it stands above a FaultInjector, whose failures it then sees as the allocator
// does.
//
// Thread safety: all members. A mutex guards the record and is not held while the driver below
// works; calls stand in the record in the order in which they came back.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <vector>

#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn {

// What went in and what came out; members that a kind of call does not have are 0.
struct RecordedCall {
  DriverCall call = DriverCall::malloc;
  DeviceIndex device = 0;
  Bytes size{};                             // malloc: in.
  Address address{};                        // malloc: out, where it succeeded; free: in.
  MemoryInfo memory{};                      // mem_info: out, where it succeeded.
  CudaStatus status = CudaStatus::success;  // How it ended.
};

class RecordingDriver final : public Driver {
 public:
  explicit RecordingDriver(Driver& below) : below_(below) {}

  // The calls since the last take_record(), which the record then no longer holds.
  std::vector<RecordedCall> take_record();

  // How many calls of that kind came since the start or the last reset_calls().
  std::uint64_t calls(DriverCall call) const;
  void reset_calls();

  int device_count() const override { return below_.device_count(); }
  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override;

 private:
  void write_down(const RecordedCall& call);

  Driver& below_;
  mutable std::mutex mutex_;
  std::vector<RecordedCall> record_;
  std::array<std::uint64_t, driver_call_count> calls_{};
};

}  // namespace cairn
