// Split and merge, and what the statistics say of it, step by step by hand.
#include <gtest/gtest.h>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

TEST(HeapSplit, ASmallSegmentIsCutFromBelow) {
  HeapInTest heap;
  EXPECT_EQ(heap.allocate(100_B), Address{0x7e0000000000});
  EXPECT_EQ(heap.blocks(), "live 512B, free 2096640B");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "1: 2096640B");
  EXPECT_EQ(heap.allocate(1_KiB), Address{0x7e0000000200});
  EXPECT_EQ(heap.blocks(), "live 512B, live 1KiB, free 2095616B");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "1: 2095616B");
}

TEST(HeapSplit, ARestOf512IsKeptAndOneOfNothingIsNot) {
  HeapInTest heap;
  heap.allocate(1_MiB);
  heap.allocate(1_MiB - 512_B);
  EXPECT_EQ(heap.blocks(), "live 1MiB, live 1048064B, free 512B");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "1: 512B");
  heap.allocate(512_B);
  EXPECT_EQ(heap.blocks(), "live 1MiB, live 1048064B, live 512B");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "0: 0B");
}

TEST(HeapSplit, ALargeRestOfOneMiBIsHandedOutWithTheBlock) {
  HeapInTest heap;
  const Address block = heap.allocate(19_MiB);  // A segment of 20 MiB.
  EXPECT_EQ(heap.blocks(), "live 20MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::large), "0: 0B");
  EXPECT_EQ(heap.stats().allocated_bytes.large_pool.current, 20 << 20);
  EXPECT_EQ(heap.stats().requested_bytes.large_pool.current, 19 << 20);
  heap.free(block);
  EXPECT_EQ(heap.stats().requested_bytes.large_pool.current, 0);

  heap.allocate(19_MiB - 512_B);
  EXPECT_EQ(heap.blocks(), "live 19922432B, free 1049088B");
}

TEST(HeapSplit, ASplitPartIsHandedOutWithItsRestToo) {
  HeapInTest heap;
  heap.allocate(2_MiB);
  heap.allocate(17_MiB);  // One MiB is left of 18.
  EXPECT_EQ(heap.blocks(), "live 2MiB, live 18MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::large), "0: 0B");
}

class HeapMerge : public testing::Test {
 protected:
  HeapMerge() {
    a_ = heap_.allocate(1_KiB);
    b_ = heap_.allocate(2_KiB);
    c_ = heap_.allocate(4_KiB);
    d_ = heap_.allocate(8_KiB);
    heap_.allocate(1_MiB);
    heap_.allocate(1_MiB - 15_KiB);
    EXPECT_EQ(heap_.blocks(), all("live 1KiB, live 2KiB, live 4KiB, live 8KiB"));
    EXPECT_EQ(split(), "0: 0B");
  }
  static std::string all(const std::string& lower) { return lower + ", live 1MiB, live 1009KiB"; }
  std::string split() const { return heap_.inactive_split(PoolKind::small); }

  HeapInTest heap_;
  Address a_, b_, c_, d_;
};

TEST_F(HeapMerge, BetweenLiveNeighboursNothingMerges) {
  heap_.free(b_);
  heap_.free(d_);
  EXPECT_EQ(heap_.blocks(), all("live 1KiB, free 2KiB, live 4KiB, free 8KiB"));
  EXPECT_EQ(split(), "2: 10KiB");
}

TEST_F(HeapMerge, WithTheNeighbourBelow) {
  heap_.free(a_);
  EXPECT_EQ(split(), "1: 1KiB");
  heap_.free(b_);
  EXPECT_EQ(heap_.blocks(), all("free 3KiB, live 4KiB, live 8KiB"));
  EXPECT_EQ(split(), "1: 3KiB");
  EXPECT_EQ(heap_.cached({s0, 3_KiB}), a_);
}

TEST_F(HeapMerge, WithTheNeighbourAbove) {
  heap_.free(c_);
  EXPECT_EQ(split(), "1: 4KiB");
  heap_.free(b_);
  EXPECT_EQ(heap_.blocks(), all("live 1KiB, free 6KiB, live 8KiB"));
  EXPECT_EQ(split(), "1: 6KiB");
  EXPECT_EQ(heap_.cached({s0, 6_KiB}), b_);
}

TEST_F(HeapMerge, WithBoth) {
  heap_.free(a_);
  heap_.free(c_);
  EXPECT_EQ(split(), "2: 5KiB");
  heap_.free(b_);
  EXPECT_EQ(heap_.blocks(), all("free 7KiB, live 8KiB"));
  EXPECT_EQ(split(), "1: 7KiB");
  const StatArray blocks = heap_.stats().inactive_split;
  EXPECT_EQ(blocks.small_pool.current, 1);
  EXPECT_EQ(blocks.all, blocks.small_pool);
}

TEST_F(HeapMerge, TheLastFreeMakesTheSegmentWhole) {
  heap_.allocate(20_MiB);  // Another segment, above it in address.
  for (const SegmentInfo& segment : heap_->map()) {
    if (segment.is_large) continue;
    for (const BlockInfo& block : segment.blocks) heap_.free(Address{block.address});
  }
  EXPECT_EQ(heap_.blocks(), "free 2MiB | live 20MiB");
  EXPECT_EQ(split(), "0: 0B");
  const DeviceStats stats = heap_.stats();
  EXPECT_EQ(stats.allocation.small_pool.current, 0);
  EXPECT_EQ(stats.requested_bytes.small_pool.current, 0);
  EXPECT_EQ(stats.inactive_split.small_pool.allocated, stats.inactive_split.small_pool.freed);
}

TEST_F(HeapMerge, AReusedBlockIsBookedWithItsNewRequest) {
  heap_.free(b_);
  ASSERT_EQ(heap_.cached({s0, 1537_B}), b_);
  EXPECT_EQ(heap_->find_live(b_)->requested_size, 1537_B);
  const std::int64_t others = (2 << 20) - 2048;
  EXPECT_EQ(heap_.stats().requested_bytes.all.current, others + 1537);
  heap_.free(b_);
  EXPECT_EQ(heap_.stats().requested_bytes.all.current, others);
}

TEST_F(HeapMerge, AFreedAddressIsLiveNoMore) {
  heap_.free(b_);
  EXPECT_EQ(heap_->find_live(b_), nullptr);
  EXPECT_NE(heap_->find_live(a_), nullptr);
  heap_.free(a_);  // Absorbs or is absorbed; neither is live.
  EXPECT_EQ(heap_->find_live(a_), nullptr);
  EXPECT_EQ(heap_->find_live(b_), nullptr);
  EXPECT_NE(heap_->find_live(c_), nullptr);
}

// Segments that lie side by side stay apart, whatever is freed first.
TEST(HeapMergeBorder, NeverAcrossASegment) {
  HeapInTest heap;
  const Address low = heap.allocate(20_MiB);
  const Address high = heap.allocate(20_MiB);
  ASSERT_EQ(low + 20_MiB, high);
  heap.free(high);
  heap.free(low);
  EXPECT_EQ(heap.blocks(), "free 20MiB | free 20MiB");
  EXPECT_EQ(heap.cached({s0, 20_MiB + 512_B}), Address{});
  EXPECT_EQ(heap.inactive_split(PoolKind::large), "0: 0B");
}

TEST(HeapMergeBorder, NeverAcrossASegmentOfTheOtherPoolOrStream) {
  HeapInTest heap;
  const Address small = heap.allocate(1_KiB);
  const Address large = heap.allocate(20_MiB);
  const Address others = heap.allocate(20_MiB, s1);
  ASSERT_EQ(large + 20_MiB, others);
  for (const Address address : {others, small, large}) heap.free(address);
  EXPECT_EQ(heap.blocks(), "free 2MiB | free 20MiB | free 20MiB");
}

// One long story, with all that is counted written out.
TEST(HeapAccounting, StepByStep) {
  HeapInTest heap;
  const auto expect = [&heap](const char* inactive, const Stat& allocated, const Stat& active) {
    EXPECT_EQ(heap.inactive_split(PoolKind::large), inactive);
    EXPECT_EQ(heap.stats().allocated_bytes.large_pool, allocated);
    EXPECT_EQ(heap.stats().active.large_pool, active);
  };
  constexpr std::int64_t mib = 1 << 20;
  const Address a = heap.allocate(4_MiB);  // Splits an unsplit block: the rest is counted.
  expect("1: 16MiB", {4 * mib, 4 * mib, 4 * mib, 0}, {1, 1, 1, 0});
  const Address b = heap.allocate(5_MiB);  // Splits a split block: it gets smaller.
  expect("1: 11MiB", {9 * mib, 9 * mib, 9 * mib, 0}, {2, 2, 2, 0});
  const Address c = heap.allocate(10_MiB);  // Takes a split block whole, for a rest of 1 MiB.
  expect("0: 0B", {20 * mib, 20 * mib, 20 * mib, 0}, {3, 3, 3, 0});
  heap.free(b);
  expect("1: 5MiB", {15 * mib, 20 * mib, 20 * mib, 5 * mib}, {2, 3, 3, 1});
  heap.free(a);  // Merges upwards.
  expect("1: 9MiB", {11 * mib, 20 * mib, 20 * mib, 9 * mib}, {1, 3, 3, 2});
  EXPECT_EQ(heap.cached({s0, 2_MiB}), a);
  expect("1: 7MiB", {13 * mib, 20 * mib, 22 * mib, 9 * mib}, {2, 3, 4, 2});
  heap.free(c);  // Merges downwards.
  expect("1: 18MiB", {2 * mib, 20 * mib, 22 * mib, 20 * mib}, {1, 3, 4, 3});
  heap.free(a);  // The segment is one block again.
  expect("0: 0B", {0, 20 * mib, 22 * mib, 22 * mib}, {0, 3, 4, 4});

  const DeviceStats stats = heap.stats();
  EXPECT_EQ(stats.inactive_split.large_pool, (Stat{0, 1, 2, 2}));
  EXPECT_EQ(stats.segment.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.reserved_bytes.all, (Stat{20 * mib, 20 * mib, 20 * mib, 0}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{0, 19 * mib, 21 * mib, 21 * mib}));
  EXPECT_EQ(stats.allocation.small_pool, Stat{});
}

}  // namespace
}  // namespace cairn
