// The map of one device's memory: its segments in order of address, and the blocks that tile each.
#pragma once

#include <cstdint>
#include <vector>

#include "cairn/export.h"

namespace cairn {

enum class BlockState {
  active_allocated,     // Handed out to the caller.
  active_pending_free,  // Freed by the caller, waits for events of other streams.
  inactive              // Free.
};

// "active_allocated", "active_pending_free", "inactive": PyTorch's words.
CAIRN_EXPORT const char* to_string(BlockState state) noexcept;

struct BlockInfo {
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  std::uint64_t requested_size_bytes = 0;  // 0 of a free block.
  BlockState state = BlockState::inactive;
};

struct SegmentInfo {
  int device = 0;
  std::uint64_t address = 0;
  std::uint64_t size_bytes = 0;
  // The handle (or the id, with stream_identity:id) as a number; 0 is the legacy default stream.
  // From 2^61 on they are Cairn's own: per-thread default streams, and streams that were forgotten.
  std::uint64_t stream = 0;
  bool is_large = false;  // Of the pool for requests above 1 MiB.
  std::vector<BlockInfo> blocks;
};

using BlockMap = std::vector<SegmentInfo>;

}  // namespace cairn
