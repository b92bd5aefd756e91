#include "driver/fault_injector.h"

namespace cairn {
namespace {

// Whether the plan makes its `call_number`th call (from 1) fail.
bool covers(const FaultPlan& plan, std::uint64_t call_number) {
  if (call_number < plan.at) return false;
  return !plan.count || call_number - plan.at < *plan.count;
}

}  // namespace

void FaultInjector::add(const FaultPlan& plan) {
  const std::lock_guard lock(mutex_);
  plans_.push_back({plan});
}

void FaultInjector::clear() {
  const std::lock_guard lock(mutex_);
  plans_.clear();
  lost_devices_.clear();
}

std::vector<FaultPlan> FaultInjector::unfired() const {
  const std::lock_guard lock(mutex_);
  std::vector<FaultPlan> left;
  for (const Progress& progress : plans_) {
    if (!progress.fired) left.push_back(progress.plan);
  }
  return left;
}

std::optional<CudaStatus> FaultInjector::due(DriverCall call, DeviceIndex device) {
  const std::lock_guard lock(mutex_);
  Progress* firing = nullptr;
  for (Progress& progress : plans_) {  // Each plan counts each call, whoever makes it fail.
    if (progress.plan.call != call) continue;
    if (covers(progress.plan, ++progress.calls_seen) && firing == nullptr) firing = &progress;
  }
  if (const auto lost = lost_devices_.find(device); lost != lost_devices_.end()) {
    return lost->second;
  }
  if (firing == nullptr) return std::nullopt;
  firing->fired = true;
  if (firing->plan.sticky) lost_devices_.emplace(device, firing->plan.error);
  return firing->plan.error;
}

DriverResult<Address> FaultInjector::malloc(DeviceIndex device, Bytes size) {
  return unless_due(DriverCall::malloc, device, [&] { return below_.malloc(device, size); });
}

DriverResult<Done> FaultInjector::free(DeviceIndex device, Address address) {
  return unless_due(DriverCall::free, device, [&] { return below_.free(device, address); });
}

DriverResult<MemoryInfo> FaultInjector::mem_info(DeviceIndex device) {
  return unless_due(DriverCall::mem_info, device, [&] { return below_.mem_info(device); });
}

DriverResult<EventHandle> FaultInjector::event_create(DeviceIndex device, ContextHandle context) {
  return unless_due(DriverCall::event_create, device,
                    [&] { return below_.event_create(device, context); });
}

DriverResult<Done> FaultInjector::event_record(StreamRef stream, EventHandle event) {
  return unless_due(DriverCall::event_record, stream.device,
                    [&] { return below_.event_record(stream, event); });
}

DriverResult<bool> FaultInjector::event_query(DeviceIndex device, EventHandle event) {
  return unless_due(DriverCall::event_query, device,
                    [&] { return below_.event_query(device, event); });
}

DriverResult<Done> FaultInjector::event_sync(DeviceIndex device, EventHandle event) {
  return unless_due(DriverCall::event_sync, device,
                    [&] { return below_.event_sync(device, event); });
}

DriverResult<Done> FaultInjector::event_destroy(DeviceIndex device, EventHandle event) {
  return unless_due(DriverCall::event_destroy, device,
                    [&] { return below_.event_destroy(device, event); });
}

DriverResult<Done> FaultInjector::ctx_record(DeviceIndex device, EventHandle event) {
  return unless_due(DriverCall::ctx_record, device,
                    [&] { return below_.ctx_record(device, event); });
}

DriverResult<Done> FaultInjector::stream_sync(StreamRef stream) {
  return unless_due(DriverCall::stream_sync, stream.device,
                    [&] { return below_.stream_sync(stream); });
}

DriverResult<Done> FaultInjector::device_sync(DeviceIndex device) {
  return unless_due(DriverCall::device_sync, device, [&] { return below_.device_sync(device); });
}

DriverResult<ContextHandle> FaultInjector::stream_ctx(StreamRef stream) {
  return unless_due(DriverCall::stream_ctx, stream.device,
                    [&] { return below_.stream_ctx(stream); });
}

DriverResult<std::uint64_t> FaultInjector::stream_id(StreamRef stream) {
  return unless_due(DriverCall::stream_id, stream.device, [&] { return below_.stream_id(stream); });
}

}  // namespace cairn
