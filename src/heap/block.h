// A range of device memory inside a segment: handed out to the caller, or free. Blocks carry the
// field names of PyTorch's allocator. A block stays in its slot for life; a split makes one more, a
// merge absorbs one.
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace cairn {

struct BlockPool;
struct ExpandableSegment;
struct Segment;
struct StackContext;
struct StreamShare;

inline constexpr Bytes block_granularity{512};  // Every block's address and size is a multiple.

// What few blocks have and no hit looks at. The heap owns it, and drops it when it is empty.
struct ColdBlockFields {
  std::vector<StreamKey> stream_uses;  // Other streams that use the live block, in order.
  const StackContext* context_when_allocated = nullptr;
  const StackContext* context_when_segment_allocated = nullptr;
};

struct alignas(128) Block {
  Address ptr;
  Bytes size;
  Bytes requested_size;   // What the caller asked for; of a free block, what the last one did.
  Block* prev = nullptr;  // The neighbour below in the same segment.
  Block* next = nullptr;  // The neighbour above.
  Segment* segment = nullptr;
  BlockPool* pool = nullptr;
  StreamId stream;  // The stream that the block is reused on.

  StreamShare* share = nullptr;  // What the stream has in the pool.

  // Free blocks are nodes of the share's index.
  Block* index_left = nullptr;
  Block* index_right = nullptr;
  std::uint64_t registration_counter = 0;  // The segment's: lower is older.
  std::int64_t gc_count_base = 0;   // The pool's count of searches when the block became free.
  ColdBlockFields* cold = nullptr;  // None as long as all of them are empty.
  ExpandableSegment* expandable_segment = nullptr;
  std::int32_t event_count = 0;  // Events recorded at free that are not done yet.
  std::int16_t device = 0;
  bool allocated = false;  // Handed out.
  bool mapped = true;      // Backed by physical memory.

  Address end() const { return ptr + size; }
  Span span() const { return {ptr, size}; }
  bool is_split() const { return prev != nullptr || next != nullptr; }
  // Neither handed out nor waiting for other streams.
  bool is_free() const { return !allocated && event_count == 0; }
};
static_assert(sizeof(Block) == 128, "a block is two cache lines, which are fetched as a pair");

}  // namespace cairn
