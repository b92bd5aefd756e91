// What the program holds of Cairn's memory, by address.
//
// Thread safety: all members.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "preload/device_service.h"

namespace cairn::preload {

struct LiveBlock {
  void* pointer = nullptr;
  DeviceService* service = nullptr;
};

class LiveBlocks {
 public:
  // False: the host has no memory.
  bool add(const LiveBlock& block) noexcept;
  // From then on the caller alone has the block that begins there; none where none does.
  std::optional<LiveBlock> take(const void* pointer) noexcept;
  // Forgets those of that service.
  void drop(const DeviceService* service) noexcept;

 private:
  static std::uintptr_t key(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  std::mutex mutex_;
  std::map<std::uintptr_t, LiveBlock> blocks_;
};

}  // namespace cairn::preload
