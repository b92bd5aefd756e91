// Lanes: what is a hit within one, what needs the whole heap, and that no peak is lost by it.
#include "heap/lane.h"

#include <gtest/gtest.h>

#include <optional>
#include <set>

#include "heap/heap.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address begin{0x7e0000000000};
constexpr StreamId first{0};
constexpr StreamId second{1};

TEST(Lanes, StreamsThatCountUpAreSpreadOverAll) {
  std::set<std::size_t> lanes;
  for (std::uint64_t stream = 0; stream < 64; ++stream) lanes.insert(lane_of(StreamId{stream}));
  EXPECT_EQ(lanes.size(), lane_count);
}

TEST(LaneHints, TellTheLaneOfEachGranuleOfASpan) {
  LaneHints hints;
  hints.set({begin, 20_MiB}, 5);
  EXPECT_EQ(hints.at(begin), 5U);
  EXPECT_EQ(hints.at(Address{begin.value + (20_MiB).count - 1}), 5U);
  EXPECT_EQ(hints.at(begin + 20_MiB), std::nullopt);
  EXPECT_EQ(hints.at(Address{begin.value - 1}), std::nullopt);
}

TEST(LaneHints, TakeASpanOfMoreThanTheyHold) {
  LaneHints hints;
  hints.set({begin, 1024_GiB}, 7);
  EXPECT_EQ(hints.at(begin + 1000_GiB), 7U);
  EXPECT_EQ(hints.at(Address{512}), 7U);  // A hint may be wrong.
}

// A heap of two streams, each with a segment of 20 MiB of its own. What is left below the peaks, a
// block of 2 MiB, is the first lane's to post.
class LanesOfAHeap : public testing::Test {
 protected:
  LanesOfAHeap() {
    for (const StreamId stream : {second, first}) {
      const HeapRequest request{stream, 2_MiB};
      heap_.reserve_segment(request);
      heap_.allocate_in_new_segment(request, {segment_of(stream), 20_MiB});
      EXPECT_TRUE(free(stream, segment_of(stream)));
    }
    EXPECT_NE(lane_of(first), lane_of(second));
  }
  static Address segment_of(StreamId stream) { return begin + Bytes{stream.value << 30}; }
  bool free(StreamId stream, Address address) {
    return heap_.free_unused(lane_of(stream), address);
  }
  Stat allocated() const { return heap_.ledger().read().allocated_bytes.all; }

  Heap heap_{0, {}};
};

TEST_F(LanesOfAHeap, AHitBelowThePeakStaysInItsLane) {
  const Block* block = heap_.hit(first, 2_MiB);
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->ptr, segment_of(first));
  EXPECT_EQ(allocated(), (Stat{(2_MiB).count, (2_MiB).count, (6_MiB).count, (4_MiB).count}));
}

TEST_F(LanesOfAHeap, WhatMayBeAPeakIsLeftToTheWholeHeap) {
  const DeviceStats before = heap_.ledger().read();
  EXPECT_EQ(heap_.hit(first, 4_MiB), nullptr);
  EXPECT_EQ(heap_.ledger().read(), before);
  EXPECT_EQ(heap_.find_live(segment_of(first)), nullptr);
  ASSERT_NE(heap_.allocate({first, 4_MiB}), nullptr);
  EXPECT_EQ(allocated().peak, static_cast<std::int64_t>((4_MiB).count));
}

// Each lane is below any peak of its own, and both together are not.
TEST_F(LanesOfAHeap, APeakOfBothTogetherIsSeen) {
  ASSERT_NE(heap_.allocate({first, 4_MiB}), nullptr);
  ASSERT_TRUE(free(first, segment_of(first)));
  for (const StreamId stream : {first, second}) {
    if (heap_.hit(stream, 3_MiB) == nullptr) {
      ASSERT_NE(heap_.allocate({stream, 3_MiB}), nullptr);
    }
  }
  EXPECT_EQ(allocated().peak, static_cast<std::int64_t>((6_MiB).count));
}

TEST_F(LanesOfAHeap, AFreedBlockOfAnotherLaneIsNotFoundInThisOne) {
  ASSERT_NE(heap_.hit(first, 2_MiB), nullptr);
  EXPECT_FALSE(free(second, segment_of(first)));
  EXPECT_NE(heap_.find_live(segment_of(first)), nullptr);
  EXPECT_EQ(heap_.lane_hints().at(segment_of(first)), lane_of(first));
  EXPECT_TRUE(free(first, segment_of(first)));
  EXPECT_FALSE(free(first, segment_of(first)));
}

TEST_F(LanesOfAHeap, ABlockWithAUseIsLeftToTheWholeHeap) {
  ASSERT_NE(heap_.hit(first, 2_MiB), nullptr);
  heap_.add_use(*heap_.find_live(segment_of(first)), {0, second});
  EXPECT_FALSE(free(first, segment_of(first)));
  EXPECT_NE(heap_.find_live(segment_of(first)), nullptr);
}

TEST_F(LanesOfAHeap, AnAlignedRangeInsideABlockIsLeftToTheWholeHeap) {
  ASSERT_NE(heap_.allocate({first, 2_MiB + 512_B}), nullptr);
  const Block* second_block = heap_.allocate({first, 2_MiB});
  ASSERT_NE(second_block, nullptr);
  ASSERT_TRUE(free(first, second_block->ptr));
  EXPECT_EQ(heap_.hit(first, 2_MiB, 2_MiB), nullptr);
  EXPECT_NE(heap_.hit(first, 2_MiB), nullptr);
}

TEST_F(LanesOfAHeap, WhatIsFoundOnAMistakenHintIsFoundAllTheSame) {
  ASSERT_NE(heap_.hit(first, 2_MiB), nullptr);
  const HeapRequest request{second, 2_MiB};
  heap_.reserve_segment(request);  // Its granules have the hints of the first segment's.
  heap_.allocate_in_new_segment(request, {segment_of(first) + 128_GiB, 20_MiB});
  EXPECT_EQ(heap_.lane_hints().at(segment_of(first)), lane_of(second));
  ASSERT_NE(heap_.find_live(segment_of(first)), nullptr);
  heap_.free(*heap_.find_live(segment_of(first)));
  EXPECT_EQ(heap_.find_live(segment_of(first)), nullptr);
}

}  // namespace
}  // namespace cairn
