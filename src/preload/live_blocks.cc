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

LiveBlocks::Claim LiveBlocks::claim(const void* pointer) noexcept {
  const std::lock_guard lock(mutex_);
  return {*this, blocks_.extract(key(pointer))};
}

LiveBlocks::Claim::~Claim() {
  if (node_.empty()) return;
  const std::lock_guard lock(of_.mutex_);
  of_.blocks_.insert(std::move(node_));
}

void LiveBlocks::drop(const DeviceService* service) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(blocks_, [&](const auto& entry) { return entry.second.service == service; });
}

}  // namespace cairn::preload
