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

void LiveBlocks::drop(const DeviceService* service) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& entry) { return entry.second.service == service; });
}

}  // namespace cairn::preload
