#include "driver/recording_driver.h"

#include <utility>

namespace cairn {
namespace {

template <class T>
CudaStatus status_of(const DriverResult<T>& result) {
  return result ? CudaStatus::success : result.error();
}

}  // namespace

std::vector<RecordedCall> RecordingDriver::take_record() {
  const std::lock_guard lock(mutex_);
  return std::exchange(record_, {});
}

std::uint64_t RecordingDriver::calls(DriverCall call) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(call)];
}

void RecordingDriver::reset_calls() {
  const std::lock_guard lock(mutex_);
  calls_ = {};
}

void RecordingDriver::write_down(const RecordedCall& call) {
  const std::lock_guard lock(mutex_);
  record_.push_back(call);
  ++calls_[static_cast<std::size_t>(call.call)];
}

DriverResult<Address> RecordingDriver::malloc(DeviceIndex device, Bytes size) {
  const auto result = below_.malloc(device, size);
  RecordedCall call{.call = DriverCall::malloc, .device = device, .size = size};
  if (result) call.address = *result;
  call.status = status_of(result);
  write_down(call);
  return result;
}

DriverResult<Done> RecordingDriver::free(DeviceIndex device, Address address) {
  const auto result = below_.free(device, address);
  RecordedCall call{.call = DriverCall::free, .device = device, .address = address};
  call.status = status_of(result);
  write_down(call);
  return result;
}

DriverResult<MemoryInfo> RecordingDriver::mem_info(DeviceIndex device) {
  const auto result = below_.mem_info(device);
  RecordedCall call{.call = DriverCall::mem_info, .device = device};
  if (result) call.memory = *result;
  call.status = status_of(result);
  write_down(call);
  return result;
}

}  // namespace cairn
