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
  if (const auto error = due(DriverCall::malloc, device)) return Failure{*error};
  return below_.malloc(device, size);
}

DriverResult<Done> FaultInjector::free(DeviceIndex device, Address address) {
  if (const auto error = due(DriverCall::free, device)) return Failure{*error};
  return below_.free(device, address);
}

DriverResult<MemoryInfo> FaultInjector::mem_info(DeviceIndex device) {
  if (const auto error = due(DriverCall::mem_info, device)) return Failure{*error};
  return below_.mem_info(device);
}

}  // namespace cairn
