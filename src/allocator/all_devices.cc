#include "allocator/all_devices.h"

#include <algorithm>
#include <cstdint>

#include "allocator/error_text.h"

namespace cairn {
namespace {

constexpr Bytes largest_alignment{std::uint64_t{2} << 20};
constexpr std::uint64_t legacy_stream_handle = 1;  // CU_STREAM_LEGACY

}  // namespace

StreamId identify(Stream stream) {
  const auto handle = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(stream));
  return handle == legacy_stream_handle ? legacy_default_stream : StreamId{handle};
}

AllDevices::AllDevices(Driver& driver, const Options& options) {
  for (DeviceIndex device = 0; device < driver.device_count(); ++device) {
    devices_.push_back(std::make_unique<DeviceAllocator>(device, options, driver));
  }
}

Result<Address, Error> AllDevices::allocate(const Request& request) {
  DeviceAllocator* device = find_device(request.device);
  if (device == nullptr) return Failure{no_such_device(request.device, device_count())};
  const Bytes alignment{request.alignment_bytes};
  if (!is_power_of_two(alignment) || alignment > largest_alignment) {
    return Failure{bad_alignment(alignment)};
  }
  const Bytes requested{request.size_bytes};
  if (requested >= request_limit) return Failure{larger_than_possible(requested)};
  if (requested == Bytes{0}) return Address{};
  return device->allocate(
      {identify(request.stream), requested, std::max(alignment, block_granularity)});
}

Result<Done, Error> AllDevices::free(Address address, const FreeCheck* check) {
  if (address == Address{}) return Done{};
  for (const auto& device : devices_) {
    const auto freed = device->free(address, check);
    if (!freed) return Failure{freed.error()};
    if (*freed) return Done{};
  }
  return Failure{foreign_pointer(address)};
}

Result<Done, Error> AllDevices::empty_cache() {
  for (const auto& device : devices_) {
    auto released = device->empty_cache();
    if (!released) return released;
  }
  return Done{};
}

DeviceAllocator* AllDevices::find_device(DeviceIndex index) {
  return 0 <= index && index < device_count() ? &device(index) : nullptr;
}

}  // namespace cairn
