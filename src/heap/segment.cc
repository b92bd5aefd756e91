#include "heap/segment.h"

#include "invariants/catalogue/hook.h"

namespace cairn {

Block& split_lower(Block& block, Bytes size, NodePool<Block>& slots) {
  Segment& segment = *block.segment;
  CAIRN_AUDIT(segment);
  CAIRN_HOLDS(block_size_granular, is_multiple(size, block_granularity));
  CAIRN_HOLDS(blocks_tile_segment, Bytes{0} < size && size < block.size);
  Block& lower = slots.make();
  lower.ptr = block.ptr;
  lower.size = size;
  lower.prev = block.prev;
  lower.next = &block;
  lower.segment = &segment;
  lower.pool = block.pool;
  lower.stream = block.stream;
  lower.share = block.share;
  lower.registration_counter = block.registration_counter;
  lower.device = block.device;

  (lower.prev != nullptr ? lower.prev->next : segment.first) = &lower;
  block.prev = &lower;
  block.ptr = block.ptr + size;
  block.size -= size;
  return lower;
}

void absorb_prev(Block& block, NodePool<Block>& slots) {
  Segment& segment = *block.segment;
  CAIRN_AUDIT(segment);
  Block& absorbed = *block.prev;
  CAIRN_HOLDS(blocks_tile_segment, absorbed.end() == block.ptr);
  block.ptr = absorbed.ptr;
  block.size += absorbed.size;
  block.prev = absorbed.prev;
  (block.prev != nullptr ? block.prev->next : segment.first) = &block;
  slots.give_back(absorbed);
}

void absorb_next(Block& block, NodePool<Block>& slots) {
  const Segment& segment = *block.segment;
  CAIRN_AUDIT(segment);
  Block& absorbed = *block.next;
  CAIRN_HOLDS(blocks_tile_segment, block.end() == absorbed.ptr);
  block.size += absorbed.size;
  block.next = absorbed.next;
  if (block.next != nullptr) block.next->prev = &block;
  slots.give_back(absorbed);
}

}  // namespace cairn
