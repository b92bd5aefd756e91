#include <algorithm>
#include <string>
#include <vector>

#include "heap/heap.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

// What one walk over all segments, in order of address, has met.
struct Walk {
  Address segments_end;
  Address live_end;
  std::size_t free_blocks = 0;
  std::size_t live_blocks = 0;
  std::vector<std::uint64_t> ages;
};

void walk_block(const Heap& heap, const Segment& segment, const Block& block, Walk& walk) {
  expect(block.segment == &segment, block_in_one_segment, [&] { return describe(block); });
  expect(block.device == heap.device(), block_shares_segment, [&] { return describe(block); });
  expect(!block.is_free() || block.next == nullptr || !block.next->is_free(),
         free_neighbours_merged, [&] { return describe(block) + " and " + describe(*block.next); });
  if (block.is_free()) ++walk.free_blocks;
  if (!block.allocated) return;
  ++walk.live_blocks;
  expect(walk.live_end <= block.ptr, live_blocks_disjoint, [&] { return describe(block); });
  walk.live_end = std::max(walk.live_end, block.end());
  expect(heap.live().find(block.ptr) == &block, live_block_listed,
         [&] { return describe(block) + " is not in the live table"; });
}

void walk_segment(const Heap& heap, const Segment& segment, Walk& walk) {
  check(segment, Cost::structure);
  expect(walk.segments_end <= segment.span.begin, segments_disjoint,
         [&] { return describe(segment); });
  walk.segments_end = std::max(walk.segments_end, segment.span.end());
  expect(segment.index == segment.pool->find_index(segment.stream), free_block_indexed,
         [&] { return describe(segment) + " names a foreign index"; });
  walk.ages.push_back(segment.registration_counter);
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    walk_block(heap, segment, *block, walk);
  }
}

void check_ages(const Heap& heap, std::vector<std::uint64_t>& ages) {
  std::sort(ages.begin(), ages.end());
  const bool distinct = std::adjacent_find(ages.begin(), ages.end()) == ages.end();
  expect(distinct && (ages.empty() || ages.back() < heap.next_registration_counter()),
         segment_age_unique, [] { return "the registration counters of the segments"; });
}

// Every block of an index is free and at home there. Gives their number.
std::size_t check_indexes(const BlockPool& pool) {
  std::size_t count = 0;
  for (const auto& [stream, index] : pool.indexes) {
    check(*index, Cost::structure);
    for (const Block* block = index->smallest(); block != nullptr; block = index->after(*block)) {
      ++count;
      expect(block->is_free() && block->segment->index == index.get(), free_block_indexed,
             [&] { return describe(*block) + " is in a foreign index"; });
    }
  }
  return count;
}

}  // namespace

void check(const Heap& heap, Cost dearest) {
  if (dearest < Cost::heap) return;
  Walk walk;
  for (const auto& [address, segment] : heap.segments()) walk_segment(heap, segment, walk);
  check_ages(heap, walk.ages);
  const std::size_t indexed =
      check_indexes(heap.pool(PoolKind::small)) + check_indexes(heap.pool(PoolKind::large));
  expect(indexed == walk.free_blocks, free_block_indexed, [&] {
    return std::to_string(walk.free_blocks) + " free blocks, " + std::to_string(indexed) +
           " of them in an index";
  });
  check(heap.live(), Cost::structure);
  expect(heap.live().size() == walk.live_blocks, live_block_listed, [&] {
    return std::to_string(walk.live_blocks) + " allocated blocks, " +
           std::to_string(heap.live().size()) + " listed";
  });
  check(heap.ledger(), Cost::structure);
  check_recount(heap);
}

}  // namespace cairn::invariants
