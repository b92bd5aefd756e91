#include "preload/live_blocks.h"

#include <new>

namespace cairn::preload {

bool LiveBlocks::add(const LiveBlock& block) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    blocks_[key(block.pointer)] = block;
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

std::optional<LiveBlock> LiveBlocks::take(const void* pointer) noexcept {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(key(pointer));
  if (found == blocks_.end()) return std::nullopt;
  const LiveBlock taken = found->second;
  blocks_.erase(found);
  return taken;
}

std::optional<LiveBlock> LiveBlocks::containing(const void* pointer) const noexcept {
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(key(pointer));
  if (after == blocks_.begin()) return std::nullopt;
  const LiveBlock& block = (--after)->second;
  if (key(pointer) - after->first >= block.size_bytes) return std::nullopt;
  return block;
}

void LiveBlocks::drop(const DeviceService* service) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& entry) { return entry.second.service == service; });
}

}  // namespace cairn::preload
