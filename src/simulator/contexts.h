// The contexts of the simulated devices: each has its primary one, and may have more. The primary
// context of a device is named 0 beside that device, and by a handle of its own everywhere.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/driver.h"

namespace cairn::simulator {

// By handles of their own, here and below: never 0.
inline ContextHandle primary_context(DeviceIndex device) {
  return {0x100 + static_cast<std::uint64_t>(device)};
}

class Contexts {
 public:
  explicit Contexts(std::size_t devices) {
    for (std::size_t i = 0; i < devices; ++i) devices_.push_back(static_cast<DeviceIndex>(i));
  }

  // A further context of the device.
  ContextHandle make(DeviceIndex device) {
    devices_.push_back(device);
    return {0x100 + devices_.size() - 1};
  }

  // The context that `handle` names beside `device`, by its own handle; none: there is no such
  // context.
  std::optional<ContextHandle> find(DeviceIndex device, ContextHandle handle) const {
    if (handle.value == 0) return primary_context(device);
    if (handle.value < 0x100 || handle.value - 0x100 >= devices_.size()) return std::nullopt;
    return handle;
  }

  // REQUIRES: `context` was found.
  DeviceIndex device_of(ContextHandle context) const { return devices_[context.value - 0x100]; }

 private:
  std::vector<DeviceIndex> devices_;  // Of each context, the primary ones first.
};

}  // namespace cairn::simulator
