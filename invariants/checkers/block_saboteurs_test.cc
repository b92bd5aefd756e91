// Saboteurs of blocks and of segments.
#include <gtest/gtest.h>

#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

TEST(SmallHeap, IsSound) {
  const SmallHeap small;
  EXPECT_EQ(broken_in(small.heap), Ids{});
  EXPECT_EQ(ids_of(small.dropped), Ids{});
  for (const Block* block : {&small.a, &small.hole, &small.b, &small.rest, &small.c}) {
    EXPECT_EQ(broken_in(*block), Ids{});
    EXPECT_EQ(broken_in(*block->segment), Ids{});
  }
}

// ---- block ----

TEST(Saboteur, B1_ASizeBetweenMultiplesOf512) {
  SmallHeap small;
  small.a.size += 100_B;
  EXPECT_EQ(broken_in(small.a), Ids{"B1"});
  EXPECT_TRUE(contains(broken_in(*small.a.segment), "B1"));
  EXPECT_TRUE(contains(broken_in(small.heap), "B1"));
}

TEST(Saboteur, B1_ABlockOfNothing) {
  SmallHeap small;
  small.hole.size = 0_B;
  EXPECT_EQ(broken_in(small.hole), Ids{"B1"});
  EXPECT_TRUE(contains(broken_in(small.heap), "B1"));
}

TEST(Saboteur, B2_AnAddressBetweenMultiplesOf512) {
  SmallHeap small;
  small.a.ptr = small.a.ptr + 256_B;
  EXPECT_EQ(broken_in(small.a), Ids{"B2"});
  EXPECT_TRUE(contains(broken_in(small.heap), "B2"));
}

TEST(Saboteur, B2_ABlockAtNull) {
  SmallHeap small;
  small.a.ptr = Address{};
  EXPECT_EQ(broken_in(small.a), Ids{"B2"});
  EXPECT_TRUE(contains(broken_in(small.heap), "B2"));
}

TEST(Saboteur, B3_MoreRequestedThanThereIs) {
  SmallHeap small;
  small.a.requested_size = small.a.size + 1_B;
  small.heap.ledger().lane(0).became_free(PoolKind::large, 0_B, 4_MiB - 100_B);
  small.heap.ledger().lane(0).handed_out(PoolKind::large, 0_B, small.a.requested_size);
  small.heap.ledger().lane(0).freed(PoolKind::large, 0_B);
  EXPECT_EQ(broken_in(small.a), Ids{"B3"});
  EXPECT_EQ(broken_in(small.heap), Ids{"B3"});
}

TEST(Saboteur, B4_ABlockOfAnotherDevice) {
  SmallHeap small;
  small.a.device = 1;
  EXPECT_EQ(broken_in(small.heap), Ids{"B4"});
}

TEST(Saboteur, B4_ABlockOfAnotherStream) {
  SmallHeap small;
  small.a.stream = stream_1;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"B4"});
  EXPECT_EQ(broken_in(small.heap), Ids{"B4"});
}

TEST(Saboteur, B4_ABlockOfAnotherPool) {
  SmallHeap small;
  small.a.pool = small.c.pool;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"B4"});
  EXPECT_EQ(broken_in(small.heap), Ids{"B4"});
}

TEST(Saboteur, B4_ABlockOfAnotherAge) {
  SmallHeap small;
  small.a.registration_counter = small.c.registration_counter;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"B4"});
  EXPECT_EQ(broken_in(small.heap), Ids{"B4"});
}

TEST(Saboteur, B4_ABlockWithoutAgeAmongOthers) {
  SmallHeap small;
  small.a.registration_counter = 0;
  EXPECT_EQ(broken_in(small.heap), Ids{"B4"});
}

TEST(Saboteur, B5_AnUnmappedBlock) {
  SmallHeap small;
  small.a.mapped = false;
  EXPECT_EQ(broken_in(small.a), Ids{"B5"});
  EXPECT_EQ(broken_in(small.heap), Ids{"B5"});
}

// ---- segment ----

TEST(Saboteur, S1_AGapBetweenBlocks) {
  SmallHeap small;
  small.hole.size -= 512_B;
  EXPECT_EQ(broken_in(*small.hole.segment), Ids{"S1"});
  EXPECT_TRUE(contains(broken_in(small.heap), "S1"));
}

TEST(Saboteur, S1_AnOverlapOfNeighbours) {
  SmallHeap small;
  small.hole.size += 512_B;
  EXPECT_EQ(broken_in(*small.hole.segment), Ids{"S1"});
  EXPECT_TRUE(contains(broken_in(small.heap), "S1"));
}

TEST(Saboteur, S1_AFirstBlockAboveTheBegin) {
  SmallHeap small;
  small.spare.ptr = small.spare.ptr + 512_B;
  small.spare.size -= 512_B;
  EXPECT_EQ(broken_in(*small.spare.segment), Ids{"S1"});
}

TEST(Saboteur, S1_ALastBlockBelowTheEnd) {
  SmallHeap small;
  small.rest.size -= 512_B;
  EXPECT_EQ(broken_in(*small.rest.segment), Ids{"S1"});
}

TEST(Saboteur, S1_ALastBlockBeyondTheEnd) {
  SmallHeap small;
  small.rest.size += 512_B;
  EXPECT_EQ(broken_in(*small.rest.segment), Ids{"S1"});
}

// The blocks lie end to end all the same, as the hole is 1 MiB less than nothing.
TEST(Saboteur, S1_ABlockThatWrapsAround) {
  SmallHeap small;
  small.hole.size = 0_B - 1_MiB;
  small.b.ptr = small.hole.end();
  small.b.size = 6_MiB;
  ASSERT_EQ(small.b.end(), small.rest.ptr);
  EXPECT_EQ(broken_in(*small.hole.segment), Ids{"S1"});
}

TEST(Saboteur, S1_AChainCutShort) {
  SmallHeap small;
  small.hole.next = nullptr;
  EXPECT_EQ(broken_in(*small.hole.segment), Ids{"S1"});
}

TEST(Saboteur, S1_ASegmentWithoutBlocks) {
  SmallHeap small;
  small.spare.segment->first = nullptr;
  EXPECT_EQ(broken_in(*small.spare.segment), Ids{"S1"});
  EXPECT_TRUE(contains(broken_in(small.heap), "S1"));
}

TEST(Saboteur, S2_ABlockThatForgotTheOneBelow) {
  SmallHeap small;
  small.hole.prev = nullptr;
  EXPECT_EQ(broken_in(*small.hole.segment), Ids{"S2"});
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
}

TEST(Saboteur, S2_ABlockThatIsSkipped) {
  SmallHeap small;
  small.a.next = &small.b;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"S2"});
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
}

TEST(Saboteur, S2_AChainThatStartsAtItsSecondBlock) {
  SmallHeap small;
  small.a.segment->first = &small.hole;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"S2"});
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
}

TEST(Saboteur, S2_AFirstBlockWithOneBelow) {
  SmallHeap small;
  small.a.prev = &small.c;
  EXPECT_EQ(broken_in(*small.a.segment), Ids{"S2"});
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
}

TEST(Saboteur, S2_ARing) {
  SmallHeap small;
  small.rest.next = &small.a;
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
  small.a.prev = &small.rest;
  EXPECT_EQ(broken_in(small.heap), Ids{"S2"});
}

}  // namespace
}  // namespace cairn::invariants
