#include <sstream>
#include <string>

#include "heap/block_pool.h"
#include "heap/segment.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

std::string hex(Address address) {
  std::ostringstream out;
  out << "0x" << std::hex << address.value;
  return out.str();
}

bool shares(const Block& block, const Segment& segment) {
  const bool same_age = block.tie_rank == 0 || block.tie_rank == segment.registration_counter;
  return block.pool == segment.pool && block.stream == segment.stream && same_age;
}

// One step of the walk along the chain.
void check_link(const Segment& segment, const Block& block, const Block* previous,
                Address expected) {
  check_block(block);
  expect(block.prev == previous, block_links_agree,
         [&] { return describe(block) + " does not point back to the block before it"; });
  expect(block.ptr == expected && block.end() <= segment.span.end(), blocks_tile_segment,
         [&] { return describe(block) + " should start at " + hex(expected); });
  expect(shares(block, segment), block_shares_segment,
         [&] { return describe(block) + " in " + describe(segment); });
}

}  // namespace

std::string describe(const Block& block) {
  std::ostringstream out;
  out << (block.allocated ? "allocated" : "free") << " block " << hex(block.ptr) << " of "
      << block.size.count << " bytes";
  return out.str();
}

std::string describe(const Segment& segment) {
  std::ostringstream out;
  out << "segment " << hex(segment.span.begin) << " of " << segment.span.size.count << " bytes";
  return out.str();
}

void check_block(const Block& block) {
  const auto words = [&] { return describe(block); };
  expect(block.size > Bytes{0} && is_multiple(block.size, block_granularity), block_size_granular,
         words);
  expect(block.ptr != Address{} && is_aligned(block.ptr, block_granularity), block_aligned, words);
  expect(!block.allocated || block.requested_size <= block.size, block_serves_request, words);
  expect(block.mapped || block.expandable_segment != nullptr, block_mapped, words);
  expect(block.event_count >= 0, event_count_not_negative, words);
  expect(!block.allocated || block.event_count == 0, idle_without_uses, words);
}

// A broken chain may be endless: a segment has room for so many blocks and no more.
void check(const Segment& segment, Cost dearest) {
  if (dearest < Cost::structure) return;
  const std::uint64_t most = segment.span.size.count / block_granularity.count;
  const Block* previous = nullptr;
  Address expected = segment.span.begin;
  std::uint64_t count = 0;
  for (const Block* block = segment.first; block != nullptr; block = block->next) {
    if (++count > most) {
      report(block_links_agree, describe(segment) + " has a chain without end", __FILE__, __LINE__);
      return;
    }
    check_link(segment, *block, previous, expected);
    expected = block->end();
    previous = block;
  }
  expect(expected == segment.span.end(), blocks_tile_segment,
         [&] { return describe(segment) + " is covered up to " + hex(expected); });
}

}  // namespace cairn::invariants
