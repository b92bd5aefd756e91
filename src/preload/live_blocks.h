// What the program holds of Cairn's memory, by address.
//
// Thread safety: all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "preload/device_service.h"

namespace cairn::preload {

struct LiveBlock {
  void* pointer = nullptr;
  std::size_t size_bytes = 0;
  DeviceService* service = nullptr;
};

class LiveBlocks {
 public:
  // False: the host has no memory.
  bool add(const LiveBlock& block) noexcept;
  // From then on the caller alone has the block that begins there; none where none does.
  std::optional<LiveBlock> take(const void* pointer) noexcept;
  // The block that the address lies in.
  std::optional<LiveBlock> containing(const void* pointer) const noexcept;
  // Forgets those of that service.
  void drop(const DeviceService* service) noexcept;

 private:
  static std::uintptr_t key(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, LiveBlock> blocks_;
};

}  // namespace cairn::preload
