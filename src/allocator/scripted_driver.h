// For tests of the allocator: a driver that answers as it was told, notes what it was asked, and
// knows which memory it has out and which events there are.
//
// Thread-safe, but for what tests tell it (the first part).
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/text_in_test.h"
#include "driver/driver.h"
#include "driver/driver_call.h"

namespace cairn {

using Calls = std::vector<std::string>;

class ScriptedDriver : public Driver {
 public:
  explicit ScriptedDriver(int devices = 1, Bytes total = {std::uint64_t{80} << 30})
      : devices_(devices), total_(total) {}

  // Each call takes the next answer of its kind, or else the next of all; where none is left it
  // succeeds.
  void answer(const std::vector<CudaStatus>& answers) {
    answers_.assign(answers.begin(), answers.end());
  }
  void answer(DriverCall call, const std::vector<CudaStatus>& answers) {
    answers_of_[call].assign(answers.begin(), answers.end());
  }
  // By default segments lie 1 TiB apart, in the order in which they were given.
  void next_address(Address address) { next_address_ = address; }
  // What runs within each malloc, before it answers; no lock of the driver is held.
  void during_malloc(std::function<void()> act) { during_malloc_ = std::move(act); }
  // What runs within each call, before all else.
  void during_each(std::function<void()> act) { during_each_ = std::move(act); }

  // An event is not done once it was recorded, until this is said of it, or it was waited for.
  void finish(std::uint64_t event) { pending_.erase(event); }
  void finish_all() { pending_.clear(); }
  // By default a stream is of the primary context, and its id is the handle + 0x1000.
  void set_context(std::uint64_t handle, std::uint64_t context) { contexts_[handle] = context; }
  void set_id(std::uint64_t handle, std::uint64_t id) { ids_[handle] = id; }
  void set_processes(std::vector<ProcessMemory> processes) { processes_ = std::move(processes); }

  // What was asked since this was last called, each with the device: "malloc 0 20MiB", "free 0 #1"
  // (the first segment that was ever given), "event_create 0 c7" (in context 7), "event_record 0
  // s0x51 e1" (the first event that was ever created), "stream_sync 0 s0x51", "device_sync 0".
  Calls calls() {
    const std::lock_guard lock(mutex_);
    return std::exchange(calls_, {});
  }

  // The segments that are out, with their devices.
  std::map<Address, DeviceIndex> out() const {
    const std::lock_guard lock(mutex_);
    return out_;
  }
  std::size_t events() const { return homes_.size(); }

  static constexpr Address segment(std::uint64_t number) { return {number << 40}; }

  // ---- the driver ----

  int device_count() const override { return devices_; }
  Bytes total_memory(DeviceIndex) const override { return total_; }
  std::vector<ProcessMemory> processes(DeviceIndex) const override { return processes_; }

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    const CudaStatus status = next(DriverCall::malloc, device, " " + as_text(size));
    const auto act = during_malloc_;  // It may name another, which this then outlives.
    if (act) act();
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = numbers_.size() + 1;
    const auto given = std::exchange(next_address_, std::nullopt);
    const Address address = given.value_or(segment(number));
    numbers_[address] = number;
    out_[address] = device;
    return address;
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    const CudaStatus status =
        next(DriverCall::free, device, " #" + std::to_string(numbers_[address]));
    const std::lock_guard lock(mutex_);
    const auto found = out_.find(address);
    EXPECT_TRUE(found != out_.end() && found->second == device) << calls_.back();
    if (status != CudaStatus::success) return Failure{status};
    out_.erase(address);
    return Done{};
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    const CudaStatus status = next(DriverCall::mem_info, device, "");
    if (status != CudaStatus::success) return Failure{status};
    return MemoryInfo{Bytes{std::uint64_t{3} << 30}, total_};
  }

  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    const std::string where = context.value == 0 ? "" : " c" + std::to_string(context.value);
    const CudaStatus status = next(DriverCall::event_create, device, where);
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    homes_[++last_event_] = {device, context.value};
    return EventHandle{last_event_};
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    const CudaStatus status =
        next(DriverCall::event_record, stream.device, in_text(stream) + in_text(event));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    expect_home(event, {stream.device, context_of(stream.handle)});
    pending_.insert(event.value);
    return Done{};
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    const CudaStatus status = next(DriverCall::event_query, device, in_text(event));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    expect_device(event, device);
    return !pending_.contains(event.value);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    const CudaStatus status = next(DriverCall::event_sync, device, in_text(event));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    expect_device(event, device);
    pending_.erase(event.value);
    return Done{};
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    const CudaStatus status = next(DriverCall::event_destroy, device, in_text(event));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    expect_device(event, device);
    homes_.erase(event.value);
    return Done{};
  }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    const CudaStatus status = next(DriverCall::ctx_record, device, in_text(event));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    expect_home(event, {device, 0});
    pending_.insert(event.value);
    return Done{};
  }

  DriverResult<Done> stream_sync(StreamRef stream) override {
    return done(next(DriverCall::stream_sync, stream.device, in_text(stream)));
  }
  DriverResult<Done> device_sync(DeviceIndex device) override {
    return done(next(DriverCall::device_sync, device, ""));
  }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    const CudaStatus status = next(DriverCall::stream_ctx, stream.device, in_text(stream));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    return ContextHandle{context_of(stream.handle)};
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    const CudaStatus status = next(DriverCall::stream_id, stream.device, in_text(stream));
    if (status != CudaStatus::success) return Failure{status};
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(stream.handle);
    return found == ids_.end() ? stream.handle + 0x1000 : found->second;
  }

 private:
  using Home = std::pair<DeviceIndex, std::uint64_t>;  // With the context.

  static std::string in_text(EventHandle event) { return " e" + std::to_string(event.value); }
  static std::string in_text(StreamRef stream) {
    std::array<char, 16> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), stream.handle, 16).ptr;
    return " s0x" + std::string(digits.data(), end);
  }
  static DriverResult<Done> done(CudaStatus status) {
    if (status != CudaStatus::success) return Failure{status};
    return Done{};
  }

  // Notes the call, and gives how it is to end.
  CudaStatus next(DriverCall call, DeviceIndex device, const std::string& rest) {
    if (during_each_) during_each_();
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::string(to_string(call)) + " " + std::to_string(device) + rest);
    const auto of_kind = answers_of_.find(call);
    const bool has_kind = of_kind != answers_of_.end() && !of_kind->second.empty();
    std::deque<CudaStatus>& answers = has_kind ? of_kind->second : answers_;
    if (answers.empty()) return CudaStatus::success;
    const CudaStatus answer = answers.front();
    answers.pop_front();
    return answer;
  }
  std::uint64_t context_of(std::uint64_t handle) const {
    const auto found = contexts_.find(handle);
    return found == contexts_.end() ? 0 : found->second;
  }
  // An event is used where it belongs: the real driver refuses, or does what it likes.
  void expect_home(EventHandle event, const Home& home) const {
    const auto found = homes_.find(event.value);
    EXPECT_TRUE(found != homes_.end() && found->second == home) << calls_.back();
  }
  void expect_device(EventHandle event, DeviceIndex device) const {
    const auto found = homes_.find(event.value);
    EXPECT_TRUE(found != homes_.end() && found->second.first == device) << calls_.back();
  }

  const int devices_;
  const Bytes total_;  // Memory of each device.
  mutable std::mutex mutex_;
  std::deque<CudaStatus> answers_;
  std::map<DriverCall, std::deque<CudaStatus>> answers_of_;
  std::function<void()> during_malloc_;
  std::function<void()> during_each_;
  std::vector<ProcessMemory> processes_;
  std::map<std::uint64_t, std::uint64_t> contexts_;
  std::map<std::uint64_t, std::uint64_t> ids_;

  Calls calls_;
  std::map<Address, std::uint64_t> numbers_;
  std::map<Address, DeviceIndex> out_;
  std::optional<Address> next_address_;
  std::uint64_t last_event_ = 0;
  std::map<std::uint64_t, Home> homes_;  // Of the events that there are.
  std::set<std::uint64_t> pending_;      // Events that are not done.
};

inline constexpr CudaStatus ok = CudaStatus::success;
inline constexpr CudaStatus oom = CudaStatus::out_of_memory;
inline constexpr CudaStatus no_stream = CudaStatus::invalid_handle;
// A failure that ends a call, and one that ends a device.
inline constexpr CudaStatus refused = CudaStatus::unknown;
inline constexpr CudaStatus fatal = CudaStatus::illegal_address;

}  // namespace cairn
