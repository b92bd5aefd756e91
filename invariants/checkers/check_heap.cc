#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "heap/heap.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

// What one walk over all segments, in order of address, has met.
struct Walk {
  Address segments_end;
  Address live_end;
  std::size_t live_blocks = 0;
  std::size_t cold_parts = 0;
  std::vector<const Block*> free_blocks;
  std::vector<std::uint64_t> ages;
};

bool check_chains(const Heap& heap) {
  bool all_walkable = true;
  for (const auto& [address, segment] : heap.segments()) {
    all_walkable = check_chain(segment) && all_walkable;
  }
  return all_walkable;
}

void walk_cold(const Heap& heap, const Block& block, Walk& walk) {
  if (block.cold == nullptr) return;
  ++walk.cold_parts;
  const auto found = heap.cold_fields().find(block.ptr);
  expect(found != heap.cold_fields().end() && &found->second == block.cold, cold_part_of_one_block,
         [&] { return describe(block) + " names a cold part that is not listed as its own"; });
}

void walk_block(const Heap& heap, const Segment& segment, const Block& block, Walk& walk) {
  expect(block.segment == &segment, block_in_one_segment, [&] { return describe(block); });
  expect(block.device == heap.device(), block_shares_segment, [&] { return describe(block); });
  if (block.next != nullptr) {
    expect(!block.is_free() || !block.next->is_free(), free_neighbours_merged,
           [&] { return describe(block) + " and " + describe(*block.next); });
  }
  const StreamShare* share = std::as_const(*segment.pool).find_share(segment.stream);
  expect(share != nullptr && block.share == share, free_block_indexed,
         [&] { return describe(block) + " names a foreign share"; });
  walk_cold(heap, block, walk);
  if (block.is_free()) {
    walk.free_blocks.push_back(&block);
    expect(block.gc_count_base <= segment.pool->searches, free_block_has_age,
           [&] { return describe(block); });
  }
  if (!block.allocated) return;
  ++walk.live_blocks;
  expect(walk.live_end <= block.ptr, live_blocks_disjoint, [&] { return describe(block); });
  walk.live_end = std::max(walk.live_end, block.end());
  expect(share != nullptr && share->lane.live.find(block.ptr) == &block, live_block_listed,
         [&] { return describe(block) + " is not in the live table of its lane"; });
}

void walk_segment(const Heap& heap, const Segment& segment, Walk& walk) {
  expect(walk.segments_end <= segment.span.begin, segments_disjoint,
         [&] { return describe(segment); });
  walk.segments_end = std::max(walk.segments_end, segment.span.end());
  walk.ages.push_back(segment.registration_counter);
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    walk_block(heap, segment, *block, walk);
  }
}

void check_ages(const Heap& heap, Walk& walk) {
  std::vector<std::uint64_t>& ages = walk.ages;
  if (ages.empty()) return;
  std::sort(ages.begin(), ages.end());
  const bool distinct = std::adjacent_find(ages.begin(), ages.end()) == ages.end();
  expect(distinct && ages.back() < heap.next_registration_counter(), segment_age_unique,
         [] { return "the registration counters of the segments"; });
}

void check_indexed(const Block& block, const StreamShare& share) {
  expect(block.share == &share, free_block_indexed,
         [&] { return describe(block) + " is in a foreign index"; });
  expect(block.event_count == 0, idle_without_uses,
         [&] { return describe(block) + " is in an index"; });
}

// Adds the blocks of the pool's indexes to `indexed`.
void check_indexes(const BlockPool& pool, std::vector<const Block*>& indexed) {
  for (const auto& [stream, share] : pool.shares) {
    for (const Block* block : check_free_index(share.index)) {
      check_indexed(*block, share);
      indexed.push_back(block);
    }
  }
}

void check_shares(const Heap& heap, const BlockPool& pool) {
  for (const auto& [stream, share] : pool.shares) {
    const StreamId owner = stream;
    const auto is_of_share = [&](const auto& segment) {
      return segment.second.pool == &pool && segment.second.stream == owner;
    };
    const auto counted = std::count_if(heap.segments().begin(), heap.segments().end(), is_of_share);
    expect(is_retired(owner) || &share.lane == &heap.lanes()[lane_of(owner)], share_in_lane,
           [&] { return "the share of stream " + std::to_string(owner.value); });
    expect(share.segments == static_cast<std::size_t>(counted), share_counts_segments, [&] {
      return std::to_string(counted) + " segments, counted as " + std::to_string(share.segments);
    });
  }
}

// The indexes hold the blocks that the chains show to be free, and no other.
void check_free_blocks(const Heap& heap, std::vector<const Block*>& free_blocks) {
  std::vector<const Block*> indexed;
  check_indexes(heap.pool(PoolKind::small), indexed);
  check_indexes(heap.pool(PoolKind::large), indexed);
  std::sort(indexed.begin(), indexed.end(), std::less<>{});
  std::sort(free_blocks.begin(), free_blocks.end(), std::less<>{});
  std::vector<const Block*> disputed;
  std::set_symmetric_difference(indexed.begin(), indexed.end(), free_blocks.begin(),
                                free_blocks.end(), std::back_inserter(disputed), std::less<>{});
  count_evaluations(free_block_indexed, indexed.size() + free_blocks.size());
  for (const Block* block : disputed) {
    report(free_block_indexed, describe(*block) + " is free and in no index, or the reverse",
           __FILE__, __LINE__);
  }
}

}  // namespace

void check(const Heap& heap, Cost dearest) {
  if (dearest < Cost::heap) return;
  const bool all_walkable = check_chains(heap);
  for (const auto& [address, segment] : heap.segments()) {
    expect(address == segment.span.begin, segment_listed, [&] { return describe(segment); });
  }
  for (const Lane& lane : heap.lanes()) check(lane.live, Cost::structure);
  check(heap.ledger(), Cost::structure);
  if (!all_walkable) return;

  Walk walk;
  for (const auto& [address, segment] : heap.segments()) walk_segment(heap, segment, walk);
  check_ages(heap, walk);
  check_free_blocks(heap, walk.free_blocks);
  check_shares(heap, heap.pool(PoolKind::small));
  check_shares(heap, heap.pool(PoolKind::large));
  expect(heap.live_count() == walk.live_blocks, live_block_listed, [&] {
    return std::to_string(walk.live_blocks) + " allocated blocks, " +
           std::to_string(heap.live_count()) + " listed";
  });
  expect(heap.cold_fields().size() == walk.cold_parts, cold_part_of_one_block, [&] {
    return std::to_string(walk.cold_parts) + " blocks with a cold part, " +
           std::to_string(heap.cold_fields().size()) + " listed";
  });
  check_recount(heap);
}

}  // namespace cairn::invariants
