#include "simulator/simulated_gpu.h"

#include <utility>

#include "base/in_words.h"

namespace cairn::simulator {
namespace {

// CUDA gives no address that is less aligned.
constexpr Bytes least_alignment{512};

std::vector<Layout> layouts_of(const std::vector<DeviceOptions>& devices) {
  std::vector<Layout> layouts;
  layouts.reserve(devices.size());
  for (const DeviceOptions& device : devices) {
    layouts.push_back({device.adjacent, device.reuse_addresses});
  }
  return layouts;
}

// Whether memory of which `free` is left can give `size`, rounded.
bool fits(Bytes size, Bytes free) {
  return size <= free && round_up(size, allocation_granularity) <= free;
}

}  // namespace

SimulatedGpu::SimulatedGpu(const std::vector<DeviceOptions>& devices)
    : memory_(layouts_of(devices)),
      contexts_(devices.size()),
      streams_(devices.size(), host_),
      judge_(memory_, streams_, host_) {
  for (const DeviceOptions& device : devices) devices_.push_back({device.memory, {}, {}});
}

DriverResult<Address> SimulatedGpu::malloc(DeviceIndex device, Bytes size) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  if (size.count == 0) return Failure{CudaStatus::invalid_value};
  if (!fits(size, left(device))) return Failure{CudaStatus::out_of_memory};
  at(device).used += round_up(size, allocation_granularity);
  return find_place(device, size);
}

Address SimulatedGpu::find_place(DeviceIndex device, Bytes size) {
  const auto wanted = std::exchange(at(device).next_address, std::nullopt);
  if (!wanted) return memory_.allocate(device, size);
  const Span span{*wanted, size};
  if (const auto why_not = obstacle(span)) {
    judge_.on_mistake("the next allocation cannot be " + in_words(span) + ": " + *why_not);
    return memory_.allocate(device, size);
  }
  memory_.allocate_at(device, span);
  return *wanted;
}

DriverResult<Done> SimulatedGpu::free(DeviceIndex device, Address address) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  const Allocation* allocation = memory_.beginning_at(address);
  if (allocation == nullptr || allocation->device != device) {
    judge_.on_bad_free(device, address);
    return Failure{CudaStatus::invalid_value};
  }
  judge_.on_free(*allocation, now_);
  at(device).used -= allocation->footprint().size;
  memory_.give_back(address);
  return Done{};
}

void SimulatedGpu::reset_primary_context(DeviceIndex device, const std::vector<Address>& memory) {
  const std::lock_guard lock(mutex_);
  wait_for(streams_.end_of_device(device));
  streams_.destroy_all(primary_context(device));
  events_.destroy_all(primary_context(device));
  for (const Address address : memory) {
    const Allocation& allocation = *memory_.beginning_at(address);
    judge_.on_reset(allocation);
    at(device).used -= allocation.footprint().size;
    memory_.give_back(address);
  }
}

DriverResult<MemoryInfo> SimulatedGpu::mem_info(DeviceIndex device) const {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{CudaStatus::invalid_device};
  return MemoryInfo{left(device), at(device).memory};
}

std::optional<std::string> SimulatedGpu::obstacle(Span span) const {
  if (span.begin == Address{0}) return "no memory is at address 0";
  if (!is_aligned(span.begin, least_alignment)) {
    return "the address is not a multiple of " + std::to_string(least_alignment.count);
  }
  if (span.size.count == 0) return "it is empty";
  if (span.begin >= address_limit || span.size > address_limit - span.begin) {
    return "it passes the end of the address space, " + in_words(address_limit);
  }
  const Span footprint = Allocation{0, span}.footprint();
  if (const Allocation* other = memory_.overlapping(footprint)) {
    return "it overlaps the " + in_words(other->span) + on_device(other->device);
  }
  return std::nullopt;
}

Result<Done, std::string> SimulatedGpu::place(DeviceIndex device, Span span) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{"there is no device " + std::to_string(device)};
  if (auto why_not = obstacle(span)) return Failure{std::move(*why_not)};
  if (!fits(span.size, left(device))) {
    return Failure{"device " + std::to_string(device) + " has only " +
                   std::to_string(left(device).count) + " bytes left"};
  }
  at(device).used += round_up(span.size, allocation_granularity);
  memory_.allocate_at(device, span);
  return Done{};
}

Result<Done, std::string> SimulatedGpu::set_next_address(DeviceIndex device, Address address) {
  const std::lock_guard lock(mutex_);
  if (!exists(device)) return Failure{"there is no device " + std::to_string(device)};
  if (auto why_not = obstacle({address, Bytes{1}})) return Failure{std::move(*why_not)};
  at(device).next_address = address;
  return Done{};
}

std::vector<std::string> SimulatedGpu::mistakes() const {
  const std::lock_guard lock(mutex_);
  return judge_.mistakes();
}

void SimulatedGpu::hand_out(DeviceIndex device, Span range, StreamNumber owner) {
  const std::lock_guard lock(mutex_);
  judge_.hand_out(device, range, owner);
}

void SimulatedGpu::take_back(DeviceIndex device, Span range,
                             const std::vector<StreamNumber>& recorded) {
  const std::lock_guard lock(mutex_);
  judge_.take_back(device, range, recorded);
}

std::uint64_t SimulatedGpu::overlaps(DeviceIndex device) const {
  const std::lock_guard lock(mutex_);
  return judge_.overlaps(device);
}

Bytes SimulatedGpu::device_free(DeviceIndex device) const {
  const std::lock_guard lock(mutex_);
  return left(device);
}

std::vector<Violation> SimulatedGpu::violations() const {
  const std::lock_guard lock(mutex_);
  return judge_.violations();
}

std::size_t SimulatedGpu::violation_count() const {
  const std::lock_guard lock(mutex_);
  return judge_.violations().size();
}

}  // namespace cairn::simulator
