// One device's memory as the model sees it: its segments, oldest first, each with the blocks that
// tile it in order of address. No two neighbouring blocks are both free.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/options.h"

namespace cairn::model {

struct Block {
  Address ptr;
  Bytes size;
  bool allocated = false;
  Bytes requested_size;  // 0 of a free block.

  Address end() const { return ptr + size; }
};

struct Segment {
  Span span;
  PoolKind pool = PoolKind::small;
  StreamId stream;
  std::vector<Block> blocks;

  bool is_split() const { return blocks.size() > 1; }
};

// Where a block is: indices that hold until the memory changes.
struct Place {
  std::size_t segment = 0;
  std::size_t block = 0;
};

struct Memory {
  std::vector<Segment> segments;

  Segment& segment(Place place) { return segments[place.segment]; }
  const Segment& segment(Place place) const { return segments[place.segment]; }
  const Block& block(Place place) const { return segment(place).blocks[place.block]; }

  // In the order of search: stream, size, age of the segment (unless the tie is broken by address
  // alone), address.
  std::vector<Place> free_blocks(PoolKind pool, BestFitTie tie) const;
  // Those that are a whole segment, which alone can go back to the driver, in the same order.
  std::vector<Place> free_segments(PoolKind pool, BestFitTie tie) const;

  // The live block that starts at `address`.
  std::optional<Place> live_block(Address address) const;
};

}  // namespace cairn::model
