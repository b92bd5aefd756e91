// Saboteurs of the heap as a whole, and of what the driver has out.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

// Lists a segment under another address.
void list_under(Heap& heap, const Segment& segment, Address address) {
  auto& segments = writable(heap.segments());
  auto entry = segments.extract(segment.span.begin);
  entry.key() = address;
  segments.insert(std::move(entry));
}

// Moves a segment that is one block.
void move_segment(Heap& heap, Block& block, Address begin) {
  list_under(heap, *block.segment, begin);
  block.segment->span.begin = begin;
  block.ptr = begin;
}

TEST(Saboteur, H1_ASegmentThatReachesIntoAnother) {
  SmallHeap small;
  move_segment(small.heap, small.spare, small.rest.ptr);
  EXPECT_EQ(broken_in(small.heap), Ids{"H1"});
}

TEST(Saboteur, H1_ASegmentThatHoldsAnother) {
  SmallHeap small;
  move_segment(small.heap, small.spare, large_begin + 1008_MiB);  // 16 MiB below the small one.
  EXPECT_EQ(broken_in(small.heap), Ids{"H1"});
}

// Where blocks tile their segments, live ones overlap only if segments do.
TEST(Saboteur, H2_LiveBlocksOfTwoSegmentsOverlap) {
  SmallHeap small;
  Block& block = small.handed_out({stream_1, 20_MiB});
  ASSERT_EQ(broken_in(small.heap), Ids{});
  small.live(stream_1).erase(block);
  move_segment(small.heap, block, small.a.ptr + 1_MiB);
  small.live(stream_1).insert(block);
  EXPECT_EQ(broken_in(small.heap), (Ids{"H1", "H2"}));
}

TEST(Saboteur, H2_LiveBlocksOfOneSegmentOverlap) {
  SmallHeap small;
  Block& lower = small.handed_out({stream_0, 3_MiB});
  ASSERT_EQ(broken_in(small.heap), Ids{});
  lower.size += 512_B;
  small.heap.ledger().lane(0).handed_out(PoolKind::large, 512_B, 0_B);
  small.heap.ledger().lane(0).freed(PoolKind::large, 0_B);
  small.heap.ledger().lane(0).became_free(PoolKind::large, 0_B, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"S1", "H2"}));
}

TEST(Saboteur, H3_TwoSegmentsOfOneAge) {
  SmallHeap small;
  small.spare.segment->registration_counter = small.a.segment->registration_counter;
  small.spare.registration_counter = small.a.registration_counter;
  EXPECT_EQ(broken_in(small.heap), Ids{"H3"});
}

TEST(Saboteur, H3_TwoSegmentsOfOneAgeWhereAgeDecidesNothing) {
  Options options;
  options.best_fit_tie = BestFitTie::address;
  SmallHeap small(options);
  ASSERT_EQ(broken_in(small.heap), Ids{});
  small.spare.segment->registration_counter = small.a.segment->registration_counter;
  small.spare.registration_counter = small.a.registration_counter;
  EXPECT_EQ(broken_in(small.heap), Ids{"H3"});
}

TEST(Saboteur, H3_ASegmentOfTheFuture) {
  SmallHeap small;
  small.spare.segment->registration_counter = small.heap.next_registration_counter();
  small.spare.registration_counter = small.spare.segment->registration_counter;
  EXPECT_EQ(broken_in(small.heap), Ids{"H3"});
}

TEST(Saboteur, H4_ABlockThatNamesAnotherSegment) {
  SmallHeap small;
  small.a.segment = small.c.segment;
  EXPECT_EQ(broken_in(small.heap), Ids{"H4"});
}

TEST(Saboteur, H4_ABlockThatNamesNoSegment) {
  SmallHeap small;
  small.a.segment = nullptr;
  EXPECT_EQ(broken_in(small.heap), Ids{"H4"});
}

TEST(Saboteur, H5_TwoFreeNeighbours) {
  SmallHeap small;
  small.heap.adopt_segment({{spare_begin + 64_MiB, 20_MiB},
                            PoolKind::large,
                            stream_0,
                            {{4_MiB, true}, {8_MiB, false}, {8_MiB, false}}});
  EXPECT_EQ(broken_in(small.heap), Ids{"H5"});
}

TEST(Saboteur, H6_ASegmentListedUnderAnotherAddress) {
  SmallHeap small;
  list_under(small.heap, *small.spare.segment, spare_begin + 512_B);
  EXPECT_EQ(broken_in(small.heap), Ids{"H6"});
}

// ---- driver protocol ----

Ids broken_against(const Heap& heap, const std::vector<Span>& driver_has_out) {
  const Recorder recorder;
  check_segments_from_driver(heap, driver_has_out);
  return ids_of(recorder);
}

const std::vector<Span> all_out{
    {spare_begin, 20_MiB}, {large_begin, 20_MiB}, {small_begin, 2_MiB}};  // In any order.

TEST(Driver, HasOutWhatTheHeapHasAsSegments) {
  const SmallHeap small;
  EXPECT_EQ(broken_against(small.heap, all_out), Ids{});
}

TEST(Saboteur, D1_ASegmentThatTheDriverHasBack) {
  SmallHeap small;
  EXPECT_EQ(broken_against(small.heap, {all_out[0], all_out[1]}), Ids{"D1"});
}

TEST(Saboteur, D1_MemoryOfTheDriverThatTheHeapLost) {
  SmallHeap small;
  ASSERT_EQ(broken_against(small.heap, all_out), Ids{});
  small.heap.remove_segment(*small.spare.segment);
  ASSERT_EQ(broken_in(small.heap), Ids{});
  EXPECT_EQ(broken_against(small.heap, all_out), Ids{"D1"});
}

TEST(Saboteur, D1_ASegmentOfAnotherSize) {
  SmallHeap small;
  std::vector<Span> larger = all_out;
  larger[0].size += 2_MiB;
  EXPECT_EQ(broken_against(small.heap, larger), Ids{"D1"});
}

TEST(Saboteur, D1_MemoryThatTheDriverGaveTwice) {
  SmallHeap small;
  std::vector<Span> twice = all_out;
  twice.push_back(all_out[1]);
  EXPECT_EQ(broken_against(small.heap, twice), Ids{"D1"});
}

}  // namespace
}  // namespace cairn::invariants
