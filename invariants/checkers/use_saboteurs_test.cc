// Saboteurs of uses by streams and events.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

constexpr StreamKey use_1{0, stream_1};
constexpr StreamKey use_2{0, StreamId{2}};

// A small heap of which block a is used by two streams.
struct UsedHeap : SmallHeap {
  UsedHeap() {
    heap.add_use(a, use_1);
    heap.add_use(a, use_2);
  }

  std::vector<StreamKey>& uses() { return a.cold->stream_uses; }
};

TEST(UsedHeap, IsSound) {
  UsedHeap small;
  EXPECT_EQ(broken_in(small.heap), Ids{});
  small.heap.free_after_events(small.a, 2);
  EXPECT_EQ(broken_in(small.heap), Ids{});
  EXPECT_EQ(ids_of(small.dropped), Ids{});
}

TEST(Saboteur, U1_AnEventCountBelowNone) {
  SmallHeap small;
  small.hole.event_count = -1;
  EXPECT_EQ(broken_in(small.hole), Ids{"U1"});
  EXPECT_TRUE(contains(broken_in(small.heap), "U1"));
}

TEST(Saboteur, U2_ALiveBlockThatWaits) {
  SmallHeap small;
  small.a.event_count = 1;
  EXPECT_EQ(broken_in(small.a), Ids{"U2"});
  EXPECT_EQ(broken_in(small.heap), Ids{"U2"});
}

// A block that waits does not count as free, so the indexes and the ledger are wrong as well.
TEST(Saboteur, U2_AnIndexedBlockThatWaits) {
  SmallHeap small;
  small.hole.event_count = 1;
  EXPECT_EQ(broken_in(small.heap), (Ids{"U2", "P1", "L3", "L4", "L6", "L8"}));
}

TEST(Saboteur, U3_AFreeBlockWithUses) {
  SmallHeap small;
  ColdBlockFields cold{.stream_uses = {use_1}};
  small.hole.cold = &cold;
  EXPECT_EQ(broken_in(small.hole), Ids{"U3"});
  EXPECT_TRUE(contains(broken_in(small.heap), "U3"));
}

TEST(Saboteur, U3_APendingBlockWithUses) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  ColdBlockFields cold{.stream_uses = {use_1}};
  small.a.cold = &cold;
  EXPECT_EQ(broken_in(small.a), Ids{"U3"});
  EXPECT_TRUE(contains(broken_in(small.heap), "U3"));
}

TEST(Saboteur, U4_UsesOutOfOrder) {
  UsedHeap small;
  std::swap(small.uses()[0], small.uses()[1]);
  EXPECT_EQ(broken_in(small.a), Ids{"U4"});
  EXPECT_EQ(broken_in(small.heap), Ids{"U4"});
}

TEST(Saboteur, U4_AUseThatIsListedTwice) {
  UsedHeap small;
  small.uses()[0] = small.uses()[1];
  EXPECT_EQ(broken_in(small.heap), Ids{"U4"});
}

TEST(Saboteur, U4_AUseByTheBlocksOwnStream) {
  UsedHeap small;
  small.uses()[0] = {0, stream_0};
  EXPECT_EQ(broken_in(small.heap), Ids{"U4"});
}

TEST(Saboteur, U5_AColdPartOfNothing) {
  UsedHeap small;
  small.uses().clear();
  EXPECT_EQ(broken_in(small.a), Ids{"U5"});
  EXPECT_EQ(broken_in(small.heap), Ids{"U5"});
}

TEST(Saboteur, U6_AColdPartOfTwoBlocks) {
  UsedHeap small;
  small.b.cold = small.a.cold;
  EXPECT_EQ(broken_in(small.heap), Ids{"U6"});
}

TEST(Saboteur, U6_AColdPartOfAnotherBlock) {
  UsedHeap small;
  small.b.cold = std::exchange(small.a.cold, nullptr);
  EXPECT_EQ(broken_in(small.heap), Ids{"U6"});
}

TEST(Saboteur, U6_AColdPartOfNoBlock) {
  UsedHeap small;
  small.a.cold = nullptr;
  EXPECT_EQ(broken_in(small.heap), Ids{"U6"});
}

}  // namespace
}  // namespace cairn::invariants
