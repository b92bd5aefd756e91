// Which free block serves a request.
#include <gtest/gtest.h>

#include <vector>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

Options with_tie(BestFitTie tie) {
  Options options;
  options.best_fit_tie = tie;
  return options;
}

Options with_max_split(Bytes max_split, Bytes non_split_rounding) {
  Options options;
  options.max_split_size_bytes = max_split.count;
  options.max_non_split_rounding_bytes = non_split_rounding.count;
  return options;
}

TEST(HeapFit, AnEmptyHeapHasNothing) {
  HeapInTest heap;
  EXPECT_EQ(heap.cached({s0, 1_B}), Address{});
  EXPECT_EQ(heap.stats().allocation.all, Stat{});
}

TEST(HeapFit, TheSmallestThatIsLargeEnough) {
  HeapInTest heap;
  const Address four = heap.allocate(4_KiB);
  heap.allocate(512_B);
  const Address two = heap.allocate(2_KiB);
  heap.allocate(512_B);
  const Address three = heap.allocate(3_KiB);
  heap.allocate(512_B);
  for (const Address address : {four, two, three}) heap.free(address);
  EXPECT_EQ(heap.cached({s0, 2_KiB + 1_B}), three);
  EXPECT_EQ(heap.cached({s0, 2_KiB}), two);
  EXPECT_EQ(heap.cached({s0, 512_B}), three + 2560_B);  // What was left of three.
  EXPECT_EQ(heap.cached({s0, 1_KiB}), four);
}

// Two free segments of equal size, the older one above.
TEST(HeapFit, AmongEqualSizesTheOldestSegment) {
  HeapInTest heap(with_tie(BestFitTie::segment));
  heap.next_segment_at(Address{0x7f0000000000});
  const Address old_high = heap.allocate(20_MiB);
  heap.next_segment_at(Address{0x7e0000000000});
  const Address young_low = heap.allocate(20_MiB);
  heap.free(young_low);
  heap.free(old_high);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), old_high);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), young_low);
}

TEST(HeapFit, AmongEqualSizesTheLowestAddressWhereSoSet) {
  HeapInTest heap(with_tie(BestFitTie::address));
  heap.next_segment_at(Address{0x7f0000000000});
  const Address old_high = heap.allocate(20_MiB);
  heap.next_segment_at(Address{0x7e0000000000});
  const Address young_low = heap.allocate(20_MiB);
  heap.free(old_high);
  heap.free(young_low);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), young_low);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), old_high);
}

TEST(HeapFit, WithinOneSegmentTheLowestAddress) {
  for (const BestFitTie tie : {BestFitTie::segment, BestFitTie::address}) {
    HeapInTest heap(with_tie(tie));
    std::vector<Address> blocks;
    for (int i = 0; i < 6; ++i) blocks.push_back(heap.allocate(1_KiB));
    for (const int i : {2, 4, 0}) heap.free(blocks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(heap.cached({s0, 1_KiB}), blocks[0]);
    EXPECT_EQ(heap.cached({s0, 1_KiB}), blocks[2]);
    EXPECT_EQ(heap.cached({s0, 1_KiB}), blocks[4]);
  }
}

// Pieces have the age of their segment, whether a split made them or a merge.
TEST(HeapFit, AgeIsInheritedBySplitAndMerge) {
  HeapInTest heap;
  heap.next_segment_at(Address{0x7f0000000000});
  const Address old_high = heap.allocate(1_KiB);
  const Address above = heap.allocate(1_KiB);
  heap.allocate(1_MiB);
  heap.allocate(1_MiB - 2_KiB);
  heap.next_segment_at(Address{0x7e0000000000});
  const Address young_low = heap.allocate(1_KiB);
  const Address next_to_it = heap.allocate(1_KiB);
  heap.allocate(1_MiB);
  heap.allocate(1_MiB - 2_KiB);
  heap.free(young_low);
  heap.free(old_high);
  EXPECT_EQ(heap.cached({s0, 1_KiB}), old_high);  // Pieces that splits made.

  for (const Address address : {old_high, above, next_to_it}) heap.free(address);
  EXPECT_EQ(heap.cached({s0, 2_KiB}), old_high);  // Two that merged, in either segment.
  EXPECT_EQ(heap.cached({s0, 2_KiB}), young_low);
}

TEST(HeapFit, AStreamIsServedFromItsOwnMemoryAlone) {
  HeapInTest heap;
  const Address mine = heap.allocate(1_KiB, s1);
  heap.free(mine);
  EXPECT_EQ(heap.cached({s2, 1_KiB}), Address{});
  EXPECT_EQ(heap.cached({s0, 1_KiB}), Address{});
  const Address theirs = heap.allocate(1_KiB, s2);
  EXPECT_NE(theirs, mine);
  EXPECT_EQ(heap->find_live(theirs)->stream, s2);
  heap.free(theirs);
  EXPECT_EQ(heap.cached({s1, 1_KiB}), mine);
}

TEST(HeapFit, APoolIsServedFromItsOwnMemoryAlone) {
  HeapInTest heap;
  heap.free(heap.allocate(20_MiB));
  EXPECT_EQ(heap.cached({s0, 1_MiB}), Address{});
  heap.free(heap.allocate(1_MiB));
  EXPECT_EQ(heap.blocks(), "free 20MiB | free 2MiB");
  EXPECT_NE(heap.cached({s0, 1_MiB + 1_B}), Address{0x7e0000000000} + 20_MiB);
}

TEST(HeapFit, ARequestIsRoundedBeforeTheSearch) {
  HeapInTest heap;
  const Address exact = heap.allocate(1_KiB);
  heap.allocate(1_MiB);
  heap.allocate(1_MiB - 1_KiB);
  heap.free(exact);
  EXPECT_EQ(heap.cached({s0, 1025_B}), Address{});
  EXPECT_EQ(heap.cached({s0, 513_B}), exact);
  EXPECT_EQ(heap->find_live(exact)->requested_size, 513_B);
}

TEST(HeapFit, OversizeBlocksDoNotServeSmallerRequests) {
  HeapInTest heap(with_max_split(20_MiB, 20_MiB));
  heap.free(heap.allocate(20_MiB));
  EXPECT_EQ(heap.cached({s0, 20_MiB - 512_B}), Address{});
  EXPECT_EQ(heap.cached({s0, 20_MiB}), Address{0x7e0000000000});
}

TEST(HeapFit, OversizeRequestsAreServedWholeAndFromNearSizesAlone) {
  HeapInTest heap(with_max_split(20_MiB, 20_MiB));
  heap.free(heap.allocate(60_MiB));
  EXPECT_EQ(heap.cached({s0, 40_MiB}), Address{});
  EXPECT_EQ(heap.cached({s0, 40_MiB + 512_B}), Address{0x7e0000000000});
  EXPECT_EQ(heap.blocks(), "live 60MiB");
}

// --- alignment ---

TEST(HeapAligned, WhatLiesBelowStaysFree) {
  HeapInTest heap;
  heap.allocate(512_B);
  const Address aligned = heap.allocate({s0, 1000_B, 4_KiB});
  EXPECT_EQ(aligned, Address{0x7e0000000000} + 4_KiB);
  EXPECT_EQ(heap.blocks(), "live 512B, free 3584B, live 1KiB, free 2043KiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "2: 2095616B");
  EXPECT_EQ(heap.stats().allocated_bytes.all.current, 1536);
  EXPECT_EQ(heap.stats().requested_bytes.all.current, 1512);
  heap.free(aligned);
  EXPECT_EQ(heap.blocks(), "live 512B, free 2096640B");
}

TEST(HeapAligned, ABlockWithoutAnAlignedRangeIsPassedOver) {
  HeapInTest heap;
  heap.allocate(512_B);
  const Address tight = heap.allocate(4_KiB);  // From 512 to 4608: no 1 KiB at a multiple of 4 KiB.
  heap.allocate(512_B);
  heap.free(tight);
  const Address aligned = heap.cached({s0, 1_KiB, 4_KiB});
  EXPECT_EQ(aligned, Address{0x7e0000000000} + 8_KiB);
  EXPECT_EQ(heap.blocks(), "live 512B, free 4KiB, live 512B, free 3KiB, live 1KiB, free 2039KiB");
  EXPECT_EQ(heap.cached({s0, 512_B, 4_KiB}), Address{0x7e0000000000} + 4_KiB);
}

TEST(HeapAligned, ARangeThatEndsWithTheBlockLeavesNothingAbove) {
  HeapInTest heap;
  heap.allocate(512_B);
  const Address last = heap.allocate({s0, 1_MiB, 1_MiB});
  EXPECT_EQ(last, Address{0x7e0000000000} + 1_MiB);
  EXPECT_EQ(heap.blocks(), "live 512B, free 1048064B, live 1MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "1: 1048064B");
}

TEST(HeapAligned, AStartThatIsAlignedNeedsNoCut) {
  HeapInTest heap;
  EXPECT_EQ(heap.allocate({s0, 512_B, 2_MiB}), Address{0x7e0000000000});
  EXPECT_EQ(heap.blocks(), "live 512B, free 2096640B");
}

// In the large pool a piece of at most 1 MiB is not split off, but what lies below is.
TEST(HeapAligned, TheLargePoolCutsBelowButKeepsASmallRestAbove) {
  HeapInTest heap;
  heap.allocate({s0, 2_MiB + 512_B});
  const Address aligned = heap.allocate({s0, 15_MiB, 2_MiB});
  EXPECT_EQ(aligned, Address{0x7e0000000000} + 4_MiB);
  EXPECT_EQ(heap.blocks(), "live 2097664B, free 2096640B, live 16MiB");
}

TEST(HeapAligned, ANewSegmentWithoutRoomStaysFree) {
  HeapInTest heap;
  heap.next_segment_at(Address{0x7e0000000200});
  EXPECT_EQ(heap.fresh({s0, 20_MiB, 1_MiB}), Address{});
  EXPECT_EQ(heap.blocks(), "free 20MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::large), "0: 0B");
  EXPECT_EQ(heap.stats().reserved_bytes.all.current, 20 << 20);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), Address{0x7e0000000200});
}

TEST(HeapAligned, ANewSegmentIsCutWhereItMust) {
  HeapInTest heap;
  heap.next_segment_at(Address{0x7e0000000200});
  EXPECT_EQ(heap.fresh({s0, 1_KiB, 4_KiB}), Address{0x7e0000001000});
  EXPECT_EQ(heap.blocks(), "free 3584B, live 1KiB, free 2092544B");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "2: 2047KiB");
}

// An oversize block that is larger than near is a miss, also where only the alignment asks for it.
TEST(HeapAligned, TheOversizeRulesLookAtTheWholeBlock) {
  HeapInTest heap(with_max_split(20_MiB, 20_MiB));
  heap.free(heap.allocate({s0, 44_MiB}));
  EXPECT_EQ(heap.cached({s0, 24_MiB, 2_MiB}), Address{});
  EXPECT_EQ(heap.cached({s0, 24_MiB + 512_B, 2_MiB}), Address{0x7e0000000000});
}

}  // namespace
}  // namespace cairn
