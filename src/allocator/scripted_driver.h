// For tests of the allocator: a driver that answers as it was told, notes what it was asked, and
// knows which memory it has out.
//
// Thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text_in_test.h"
#include "driver/driver.h"

namespace cairn {

using Calls = std::vector<std::string>;

class ScriptedDriver : public Driver {
 public:
  explicit ScriptedDriver(int devices = 1) : devices_(devices) {}

  // Each call takes the next answer; where none is left it succeeds.
  void answer(const std::vector<CudaStatus>& answers) {
    answers_.assign(answers.begin(), answers.end());
  }
  // By default segments lie 1 TiB apart, in the order in which they were given.
  void next_address(Address address) { next_address_ = address; }

  // What was asked since this was last called: "malloc 0 20MiB", "free 0 #1" (the first segment
  // that was ever given), "mem_info 0", each with the device.
  Calls calls() { return std::exchange(calls_, {}); }

  // The segments that are out, with their devices.
  std::map<Address, DeviceIndex> out() const { return out_; }

  static constexpr Address segment(std::uint64_t number) { return {number << 40}; }

  int device_count() const override { return devices_; }

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back("malloc " + std::to_string(device) + " " + as_text(size));
    if (const CudaStatus status = next_answer(); status != CudaStatus::success) {
      return Failure{status};
    }
    const std::uint64_t number = numbers_.size() + 1;
    const auto given = std::exchange(next_address_, std::nullopt);
    const Address address = given.value_or(segment(number));
    numbers_[address] = number;
    out_[address] = device;
    return address;
  }

  DriverResult<Done> free(DeviceIndex device, Address address) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back("free " + std::to_string(device) + " #" + std::to_string(numbers_[address]));
    const auto found = out_.find(address);
    EXPECT_TRUE(found != out_.end() && found->second == device) << calls_.back();
    if (const CudaStatus status = next_answer(); status != CudaStatus::success) {
      return Failure{status};
    }
    out_.erase(address);
    return Done{};
  }

  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    const std::lock_guard lock(mutex_);
    calls_.push_back("mem_info " + std::to_string(device));
    if (const CudaStatus status = next_answer(); status != CudaStatus::success) {
      return Failure{status};
    }
    return MemoryInfo{Bytes{std::uint64_t{3} << 30}, Bytes{std::uint64_t{80} << 30}};
  }

 private:
  CudaStatus next_answer() {
    if (answers_.empty()) return CudaStatus::success;
    const CudaStatus answer = answers_.front();
    answers_.pop_front();
    return answer;
  }

  const int devices_;
  std::mutex mutex_;
  std::deque<CudaStatus> answers_;
  Calls calls_;
  std::map<Address, std::uint64_t> numbers_;
  std::map<Address, DeviceIndex> out_;
  std::optional<Address> next_address_;
};

inline constexpr CudaStatus ok = CudaStatus::success;
inline constexpr CudaStatus oom = CudaStatus::out_of_memory;

}  // namespace cairn
