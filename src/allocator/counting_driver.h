// For tests where the host runs out of memory: a driver of one device that counts what is out and
// allocates nothing itself, but to list processes. Events are done, and waits fail, by choice.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "driver/driver.h"

namespace cairn {

class CountingDriver final : public Driver {
 public:
  explicit CountingDriver(Bytes memory) : memory_(memory) {}

  int device_count() const override { return 1; }
  Bytes total_memory(DeviceIndex) const override { return memory_; }
  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    if (used_ + size > memory_) return Failure{CudaStatus::out_of_memory};
    used_ += size;
    ++segments_out_;
    ++segments_made_;
    next_ = next_ + Bytes{std::uint64_t{1} << 30};
    return next_;
  }
  DriverResult<Done> free(DeviceIndex, Address) override {
    --segments_out_;
    return Done{};
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{Bytes{0}, memory_}; }
  void set_processes(std::vector<ProcessMemory> processes) { processes_ = std::move(processes); }
  std::vector<ProcessMemory> processes(DeviceIndex) const override { return processes_; }
  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{++events_};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle event) override {
    if (event == broken_) return Failure{CudaStatus::unknown};
    return is_done_;
  }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override {
    if (refuses_waits_) return Failure{CudaStatus::unknown};
    return Done{};
  }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> stream_sync(StreamRef) override {
    if (refuses_waits_) return Failure{CudaStatus::unknown};
    return Done{};
  }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return ContextHandle{stream.handle % 3};
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

  std::size_t segments_out() const { return segments_out_; }
  std::size_t segments_made() const { return segments_made_; }
  void finish_events() { is_done_ = true; }
  void refuse_waits() { refuses_waits_ = true; }
  void break_query_of(std::uint64_t event) { broken_ = EventHandle{event}; }

 private:
  Bytes memory_;
  Bytes used_;
  Address next_;
  std::size_t segments_out_ = 0;
  std::size_t segments_made_ = 0;
  std::uint64_t events_ = 0;
  bool is_done_ = false;
  bool refuses_waits_ = false;
  EventHandle broken_;
  std::vector<ProcessMemory> processes_;
};

}  // namespace cairn
