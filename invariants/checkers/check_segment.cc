#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "base/in_words.h"
#include "heap/block_pool.h"
#include "heap/segment.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

bool shares(const Block& block, const Segment& segment) {
  return block.pool == segment.pool && block.stream == segment.stream &&
         block.registration_counter == segment.registration_counter;
}

// Sizes are compared, not ends, since an end may lie beyond 2^64 and so seem to be low.
void check_place(const Segment& segment, const Block& block, Address expected) {
  check_block(block);
  expect(block.ptr == expected && block.size <= segment.span.end() - expected, blocks_tile_segment,
         [&] { return describe(block) + " should start at " + in_words(expected); });
  expect(shares(block, segment), block_shares_segment,
         [&] { return describe(block) + " in " + describe(segment); });
}

void check_cold(const Block& block, const ColdBlockFields& cold) {
  const auto words = [&] { return describe(block); };
  const std::vector<StreamKey>& uses = cold.stream_uses;
  const StreamKey own{block.device, block.stream};
  if (!uses.empty()) {
    expect(block.allocated, uses_while_live, words);
    const bool in_order =
        std::adjacent_find(uses.begin(), uses.end(), std::greater_equal<>{}) == uses.end();
    expect(in_order && std::count(uses.begin(), uses.end(), own) == 0, uses_in_order, words);
  }
  expect(!uses.empty() || cold.context_when_allocated != nullptr ||
             cold.context_when_segment_allocated != nullptr,
         cold_part_not_empty, words);
}

}  // namespace

std::string describe(const Block& block) {
  const char* state = block.allocated ? "allocated" : block.is_free() ? "free" : "pending";
  return std::string(state) + " block of " + in_words(block.span());
}

std::string describe(const Segment& segment) { return "segment of " + in_words(segment.span); }

void check_block(const Block& block) {
  const auto words = [&] { return describe(block); };
  expect(block.size > Bytes{0} && is_multiple(block.size, block_granularity), block_size_granular,
         words);
  expect(block.ptr != Address{} && is_aligned(block.ptr, block_granularity), block_aligned, words);
  if (block.expandable_segment == nullptr) expect(block.mapped, block_mapped, words);
  expect(block.event_count >= 0, event_count_not_negative, words);
  if (block.allocated) {
    expect(block.requested_size <= block.size, block_serves_request, words);
    expect(block.event_count == 0, idle_without_uses, words);
  }
  if (block.cold != nullptr) check_cold(block, *block.cold);
}

// A chain whose links agree both ways has an end.
bool check_chain(const Segment& segment) {
  const Block* previous = nullptr;
  Address expected = segment.span.begin;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    expect(block->prev == previous, block_links_agree,
           [&] { return describe(*block) + " does not point back to the block before it"; });
    if (block->prev != previous) return false;
    check_place(segment, *block, expected);
    expected = block->end();
    previous = block;
  }
  expect(expected == segment.span.end(), blocks_tile_segment,
         [&] { return describe(segment) + " is covered up to " + in_words(expected); });
  return true;
}

void check(const Segment& segment, Cost dearest) {
  if (dearest >= Cost::structure) check_chain(segment);
}

}  // namespace cairn::invariants
