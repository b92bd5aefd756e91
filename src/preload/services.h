// The services of all devices, each made when it is first needed.
//
// Thread safety: all members.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include "preload/contexts.h"
#include "preload/device_service.h"

namespace cairn::preload {

class Services {
 public:
  // Null where there is none yet.
  DeviceService* if_made(int device) const {
    const bool is_device = 0 <= device && device < max_devices;
    return is_device ? made_[static_cast<std::size_t>(device)].load() : nullptr;
  }
  // Made if need be. Null where it cannot be; then the reason was said, and from then on none is
  // made, and nothing served.
  DeviceService* of(int device);
  std::vector<DeviceService*> all() const;
  // Whether the address is in memory that one of them has from the driver.
  bool have(const void* pointer) const;
  // It serves no more, and is kept as it is. Null where there was none.
  DeviceService* give_up(int device);

  // False once one could not be made, and in a child of fork() of a process that had one, to which
  // CUDA is closed.
  bool can_serve() const { return !has_given_up_ && !is_child(); }
  static bool is_child();

 private:
  DeviceService* make(int device);

  std::mutex mutex_;  // Held while one is made, or given up.
  std::vector<DeviceService*> given_up_;
  std::array<std::atomic<DeviceService*>, max_devices> made_{};
  std::atomic<bool> has_given_up_{false};
};

}  // namespace cairn::preload
