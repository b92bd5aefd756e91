// Segments that come and go: what may go back to the driver, in which order, and memory that is
// there from the start.
#include <gtest/gtest.h>

#include <vector>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address base{0x7e0000000000};

std::vector<Address> begins(const std::vector<const Segment*>& segments) {
  std::vector<Address> addresses;
  for (const Segment* segment : segments) addresses.push_back(segment->span.begin);
  return addresses;
}

using Addresses = std::vector<Address>;

Options with_max_split(Bytes max_split) {
  Options options;
  options.max_split_size_bytes = max_split.count;
  return options;
}

TEST(HeapReleasable, LargeBeforeSmallThenByStreamSizeAndAge) {
  HeapInTest heap;
  const Address small_s1 = heap.allocate(1_KiB, s1);
  const Address small_s0 = heap.allocate(1_KiB, s0);
  const Address large_s2 = heap.allocate(12_MiB, s2);
  heap.next_segment_at(Address{0x7f0000000000});
  const Address old_high = heap.allocate(30_MiB, s1);
  heap.next_segment_at(Address{0x7e8000000000});
  const Address young_low = heap.allocate(30_MiB, s1);
  const Address smaller = heap.allocate(20_MiB, s1);
  for (const Address address : {young_low, smaller, small_s1, large_s2, old_high, small_s0}) {
    heap.free(address);
  }
  EXPECT_EQ(begins(heap->releasable()),
            (Addresses{smaller, old_high, young_low, large_s2, small_s0, small_s1}));
}

TEST(HeapReleasable, NoSegmentWithALiveBlock) {
  HeapInTest heap;
  heap.allocate(1_KiB);
  const Address large = heap.allocate(2_MiB);
  heap.free(heap.allocate(10_MiB + 1_B));
  EXPECT_EQ(begins(heap->releasable()), Addresses{});
  heap.free(large);
  EXPECT_EQ(begins(heap->releasable()), Addresses{large});
}

TEST(HeapRemove, ASegmentIsForgotten) {
  HeapInTest heap;
  const Address gone = heap.allocate(20_MiB);
  const Address stays = heap.allocate(20_MiB);
  heap.free(gone);
  heap.free(stays);
  heap.remove_segment(gone);
  EXPECT_EQ(heap.blocks(), "free 20MiB");
  EXPECT_EQ(heap->segment_at(gone), nullptr);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), stays);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), Address{});
  EXPECT_EQ(heap.stats().segment.large_pool, (Stat{1, 2, 2, 1}));
  EXPECT_EQ(heap.stats().reserved_bytes.all, (Stat{20 << 20, 40 << 20, 40 << 20, 20 << 20}));
}

TEST(HeapRemove, ItsAddressMayComeAgain) {
  HeapInTest heap;
  heap.free(heap.allocate(20_MiB));
  heap.remove_segment(base);
  heap.next_segment_at(base);
  EXPECT_EQ(heap.allocate(1_KiB, s1), base);
  EXPECT_EQ(heap.blocks(), "live 1KiB, free 2047KiB");
  EXPECT_EQ(heap->segment_at(base)->stream, s1);
}

TEST(HeapMap, OfAFreeBlockNothingIsRequested) {
  HeapInTest heap;
  const Address address = heap.allocate(1000_B);
  EXPECT_EQ(heap->map().front().blocks.front().requested_size_bytes, 1000u);
  heap.free(address);
  EXPECT_EQ(heap->map().front().blocks.front().requested_size_bytes, 0u);
}

TEST(HeapSegmentAt, IsTheOneThatHoldsTheAddress) {
  HeapInTest heap;
  EXPECT_EQ(heap->segment_at(base), nullptr);
  heap.allocate(1_KiB);
  EXPECT_EQ(heap->segment_at(Address{base.value - 1}), nullptr);
  EXPECT_EQ(heap->segment_at(base)->span, (Span{base, 2_MiB}));
  EXPECT_EQ(heap->segment_at(base + (2_MiB - 1_B))->span.begin, base);
  EXPECT_EQ(heap->segment_at(base + 2_MiB), nullptr);
  heap.allocate(20_MiB);
  EXPECT_EQ(heap->segment_at(base + 2_MiB)->span.begin, base + 2_MiB);
}

// --- oversize ---

TEST(HeapOversizeRelease, NothingWithoutALimit) {
  HeapInTest heap;
  heap.free(heap.allocate(100_MiB));
  const auto release = heap->oversize_releasable({s0, 20_MiB});
  EXPECT_EQ(begins(release.segments), Addresses{});
  EXPECT_FALSE(release.is_enough);
}

TEST(HeapOversizeRelease, OneThatIsLargeEnoughAlone) {
  HeapInTest heap(with_max_split(20_MiB));
  const Address s40 = heap.allocate(40_MiB);
  const Address s60 = heap.allocate(60_MiB);
  const Address s80 = heap.allocate(80_MiB);
  for (const Address address : {s40, s60, s80}) heap.free(address);
  const auto release = heap->oversize_releasable({s0, 50_MiB});
  EXPECT_EQ(begins(release.segments), Addresses{s60});
  EXPECT_TRUE(release.is_enough);
  EXPECT_EQ(begins(heap->oversize_releasable({s0, 60_MiB}).segments), Addresses{s60});
  EXPECT_EQ(begins(heap->oversize_releasable({s0, 60_MiB + 1_B}).segments), Addresses{s80});
}

// A request below max_split_size asks for max_split_size all the same.
TEST(HeapOversizeRelease, AsksForMaxSplitSizeAtLeast) {
  HeapInTest heap(with_max_split(30_MiB));
  const Address below = heap.allocate(28_MiB);
  const Address at = heap.allocate(30_MiB);
  heap.free(below);
  heap.free(at);
  const auto release = heap->oversize_releasable({s0, 2_MiB});
  EXPECT_EQ(begins(release.segments), Addresses{at});
  EXPECT_TRUE(release.is_enough);
}

TEST(HeapOversizeRelease, ElseTheLargestFirstUntilTheyAreEnough) {
  HeapInTest heap(with_max_split(20_MiB));
  const Address s30 = heap.allocate(30_MiB);
  const Address s40 = heap.allocate(40_MiB);
  const Address s20 = heap.allocate(20_MiB);
  const Address below = heap.allocate(18_MiB);
  for (const Address address : {s30, s40, s20, below}) heap.free(address);
  auto release = heap->oversize_releasable({s0, 70_MiB});
  EXPECT_EQ(begins(release.segments), (Addresses{s40, s30}));
  EXPECT_TRUE(release.is_enough);
  release = heap->oversize_releasable({s0, 70_MiB + 1_B});
  EXPECT_EQ(begins(release.segments), (Addresses{s40, s30, s20}));
  EXPECT_TRUE(release.is_enough);
  release = heap->oversize_releasable({s0, 90_MiB + 1_B});  // The one of 18 MiB does not count.
  EXPECT_EQ(begins(release.segments), (Addresses{s40, s30, s20}));
  EXPECT_FALSE(release.is_enough);
}

TEST(HeapOversizeRelease, OfTheRequestsStreamAlone) {
  HeapInTest heap(with_max_split(20_MiB));
  heap.free(heap.allocate(40_MiB, s1));
  EXPECT_EQ(begins(heap->oversize_releasable({s0, 20_MiB}).segments), Addresses{});
  EXPECT_EQ(begins(heap->oversize_releasable({s2, 20_MiB}).segments), Addresses{});
  EXPECT_EQ(begins(heap->oversize_releasable({s1, 20_MiB}).segments), Addresses{base});
}

TEST(HeapOversizeRelease, OfTheRequestsPoolAlone) {
  HeapInTest heap(with_max_split(20_MiB));
  heap.free(heap.allocate(40_MiB));
  heap.free(heap.allocate(1_KiB));
  EXPECT_EQ(begins(heap->oversize_releasable({s0, 1_KiB}).segments), Addresses{});
}

// Alignment cuts below a block of any size, so that what is left may be oversize and yet a part.
TEST(HeapOversizeRelease, NoPartOfASegment) {
  HeapInTest heap(with_max_split(20_MiB));
  heap->adopt_segment({{base, 64_MiB}, PoolKind::large, s0, {{2_MiB, true}, {62_MiB}}});
  heap->adopt_segment({{base + 64_MiB, 30_MiB}, PoolKind::large, s0, {{30_MiB}}});
  auto release = heap->oversize_releasable({s0, 25_MiB});
  EXPECT_EQ(begins(release.segments), Addresses{base + 64_MiB});
  EXPECT_TRUE(release.is_enough);
  release = heap->oversize_releasable({s0, 60_MiB});
  EXPECT_EQ(begins(release.segments), Addresses{base + 64_MiB});
  EXPECT_FALSE(release.is_enough);
}

// --- memory that is there from the start ---

TEST(HeapAdopt, BlocksTileTheSegmentAsGiven) {
  HeapInTest heap;
  heap->adopt_segment(
      {{base, 20_MiB}, PoolKind::large, s1, {{4_MiB, true}, {6_MiB}, {10_MiB, true}}});
  EXPECT_EQ(heap.blocks(), "live 4MiB, free 6MiB, live 10MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::large), "1: 6MiB");
  const DeviceStats stats = heap.stats();
  EXPECT_EQ(stats.segment.large_pool, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.reserved_bytes.large_pool.current, 20 << 20);
  EXPECT_EQ(stats.allocated_bytes.large_pool.current, 14 << 20);
  EXPECT_EQ(stats.requested_bytes.large_pool.current, 14 << 20);
  EXPECT_EQ(heap.cached({s0, 6_MiB}), Address{});
  EXPECT_EQ(heap.cached({s1, 6_MiB}), base + 4_MiB);
  for (const Bytes offset : {4_MiB, 0_MiB, 10_MiB}) heap.free(base + offset);
  EXPECT_EQ(heap.blocks(), "free 20MiB");
}

TEST(HeapAdopt, OneFreeBlockIsNoSplit) {
  HeapInTest heap;
  heap->adopt_segment({{base, 2_MiB}, PoolKind::small, s0, {{2_MiB}}});
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "0: 0B");
  EXPECT_EQ(begins(heap->releasable()), Addresses{base});
}

TEST(HeapAdopt, TheOrderOfAdoptionIsTheAge) {
  HeapInTest heap;
  heap->adopt_segment({{base + 20_MiB, 20_MiB}, PoolKind::large, s0, {{20_MiB}}});
  heap->adopt_segment({{base, 20_MiB}, PoolKind::large, s0, {{20_MiB}}});
  EXPECT_EQ(heap.cached({s0, 20_MiB}), base + 20_MiB);
}

TEST(HeapAdopt, MoreBlocksThanAnyTableHoldsAtFirst) {
  HeapInTest heap;
  SegmentLayout layout{{base, Bytes{3000 * 512}}, PoolKind::small, s0, {}};
  for (int i = 0; i < 3000; ++i) layout.blocks.push_back({512_B, i % 2 == 0});
  heap->adopt_segment(layout);
  EXPECT_EQ(heap.stats().allocation.all.current, 1500);
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "1500: 750KiB");
  EXPECT_EQ(heap.cached({s0, 512_B}), base + 512_B);
}

// --- the map ---

TEST(HeapMap, SaysWhatIsThere) {
  HeapInTest heap;
  heap.next_segment_at(base + 20_MiB);
  const Address small = heap.allocate(700_B, s1);
  heap.next_segment_at(base);
  heap.free(heap.allocate(20_MiB));
  const BlockMap map = heap->map();
  ASSERT_EQ(map.size(), 2U);  // In order of address.
  EXPECT_EQ(map[0].address, base.value);
  EXPECT_EQ(map[0].device, 2);
  EXPECT_EQ(map[0].stream, 0U);
  EXPECT_TRUE(map[0].is_large);
  ASSERT_EQ(map[0].blocks.size(), 1U);
  EXPECT_EQ(map[0].blocks[0].state, BlockState::inactive);
  EXPECT_EQ(map[1].size_bytes, (2_MiB).count);
  EXPECT_EQ(map[1].stream, s1.value);
  EXPECT_FALSE(map[1].is_large);
  ASSERT_EQ(map[1].blocks.size(), 2U);
  EXPECT_EQ(map[1].blocks[0].address, small.value);
  EXPECT_EQ(map[1].blocks[0].size_bytes, 1024U);
  EXPECT_EQ(map[1].blocks[0].requested_size_bytes, 700U);
  EXPECT_EQ(map[1].blocks[0].state, BlockState::active_allocated);
  EXPECT_EQ(map[1].blocks[1].address, small.value + 1024);
  EXPECT_EQ(map[1].blocks[1].state, BlockState::inactive);
}

}  // namespace
}  // namespace cairn
