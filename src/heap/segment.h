// Memory that the driver gave in one piece, tiled by a chain of blocks in order of address (S1,
// S2). All blocks of a segment share its stream and pool; memory goes back to the driver by the
// segment.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/node_pool.h"
#include "base/units.h"
#include "heap/block.h"

namespace cairn {

struct Segment {
  Span span;
  StreamId stream;
  BlockPool* pool = nullptr;
  std::uint64_t registration_counter = 0;  // Lower is older.
  Block* first = nullptr;

  bool is_whole() const { return first->next == nullptr; }
};

// Cuts `block` at `size`: the lower part becomes a new block, which is returned; the old one keeps
// the upper part. Neither is in an index afterwards because neither was before.
// REQUIRES: 0 < size < block.size, a slot is reserved in `slots`.
Block& split_lower(Block& block, Bytes size, NodePool<Block>& slots);

// Lets `block` absorb its neighbour below or above, whose slot is given back.
// REQUIRES: the neighbour exists and is in no index.
void absorb_prev(Block& block, NodePool<Block>& slots);
void absorb_next(Block& block, NodePool<Block>& slots);

}  // namespace cairn
