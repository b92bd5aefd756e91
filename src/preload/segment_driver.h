// A decorator that knows which memory its allocator has from the driver, so that an address inside
// it never reaches the driver or the runtime as somebody else's.
//
// Thread safety: all members.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "driver/driver.h"

namespace cairn::preload {

class SegmentDriver final : public Driver {
 public:
  explicit SegmentDriver(std::unique_ptr<Driver> below) : below_(std::move(below)) {}

  bool has(Address address) const;
  std::uint64_t mallocs() const { return mallocs_; }
  std::uint64_t frees() const { return frees_; }

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override;
  DriverResult<Done> free(DeviceIndex device, Address address) override;

  int device_count() const override { return below_->device_count(); }
  Bytes total_memory(DeviceIndex device) const override { return below_->total_memory(device); }
  std::vector<ProcessMemory> processes(DeviceIndex device) const override {
    return below_->processes(device);
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    return below_->mem_info(device);
  }
  DriverResult<EventHandle> event_create(DeviceIndex device, ContextHandle context) override {
    return below_->event_create(device, context);
  }
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    return below_->event_record(stream, event);
  }
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    return below_->event_query(device, event);
  }
  DriverResult<Done> event_sync(DeviceIndex device, EventHandle event) override {
    return below_->event_sync(device, event);
  }
  DriverResult<Done> event_destroy(DeviceIndex device, EventHandle event) override {
    return below_->event_destroy(device, event);
  }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    return below_->ctx_record(device, event);
  }
  DriverResult<Done> stream_sync(StreamRef stream) override { return below_->stream_sync(stream); }
  DriverResult<Done> device_sync(DeviceIndex device) override {
    return below_->device_sync(device);
  }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return below_->stream_ctx(stream);
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override {
    return below_->stream_id(stream);
  }

 private:
  using Segments = std::map<Address, Bytes>;

  std::unique_ptr<Driver> below_;
  mutable std::mutex mutex_;
  Segments segments_;
  std::atomic<std::uint64_t> mallocs_{0};
  std::atomic<std::uint64_t> frees_{0};
};

}  // namespace cairn::preload
