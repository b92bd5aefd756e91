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

// Handed out, pending (given back, and waits for events) or free.
struct Block {
  Address ptr;
  Bytes size{};
  bool allocated = false;
  Bytes requested_size{};         // 0 of a free block.
  std::vector<StreamKey> uses{};  // Streams beside its own, in order; of a block handed out.
  std::size_t event_count = 0;    // Of a pending block.
  std::uint64_t free_since = 0;   // Of a free block: how often its pool had been searched then.

  bool is_pending() const { return event_count > 0; }
  bool is_free() const { return !allocated && !is_pending(); }
  Address end() const { return ptr + size; }
  // Where in the block an address of this alignment comes first; that may be behind its end.
  Address aligned_start(Bytes alignment) const;
  bool holds(Bytes wanted, Bytes alignment) const;
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
  Block& block(Place place) { return segment(place).blocks[place.block]; }
  const Block& block(Place place) const { return segment(place).blocks[place.block]; }

  // Whether one free block comes before another in the order of search: stream, size, age of the
  // segment (unless the tie is broken by address alone), address.
  bool comes_before(Place a, Place b, BestFitTie tie) const;
  // The free blocks that are a whole segment, which alone can go back to the driver, in that order.
  std::vector<Place> free_segments(PoolKind pool, BestFitTie tie) const;

  // The block that starts at `address`, free or not.
  std::optional<Place> block_at(Address address) const;
  // The same, if it is handed out.
  std::optional<Place> live_block(Address address) const;

  Bytes pending_bytes() const;
};

}  // namespace cairn::model
