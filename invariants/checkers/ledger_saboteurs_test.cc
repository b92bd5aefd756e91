// Saboteurs of the statistics: false postings, of which all but one quantity cancel out.
#include <gtest/gtest.h>

#include <utility>

#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

constexpr PoolKind large = PoolKind::large;

// So many bytes less than nothing, as the ledger reads it.
constexpr Bytes negative(Bytes size) { return Bytes{} - size; }

// ---- L1: the ledger by itself ----

struct SomeLedger {
  SomeLedger() : ledger(Bytes{Options::unlimited}) {
    use(1_KiB);
    use(1_KiB);
  }
  void use(Bytes size) {
    ledger.lane(0).handed_out(large, size, 0_B);
    ledger.lane(0).freed(large, size);
  }
  Ledger ledger;  // allocated_bytes: 0 now, 1 KiB at peak, 2 KiB altogether.
};

TEST(SomeLedger, IsSound) { EXPECT_EQ(broken_in(SomeLedger().ledger), Ids{}); }

TEST(Saboteur, L1_FewerThanNone) {
  SomeLedger some;
  some.ledger.lane(0).inactive_split_changed(large, -1, 0);
  EXPECT_EQ(broken_in(some.ledger), Ids{"L1"});
  EXPECT_EQ(some.ledger.read().inactive_split.all.current, -1);
}

TEST(Saboteur, L1_MoreThanThePeak) {
  SomeLedger some;
  some.ledger.lane(0).handed_out(large, 0_B, 0_B);
  some.ledger.lane(0).freed(large, negative(2_KiB));
  const Stat bytes = some.ledger.read().allocated_bytes.large_pool;
  ASSERT_EQ(bytes, (Stat{2048, 1024, 2048, 0}));
  EXPECT_EQ(broken_in(some.ledger), (Ids{"L1", "L9"}));
}

TEST(Saboteur, L1_LessAllocatedThanNothing) {
  SomeLedger some;
  some.ledger.lane(0).handed_out(large, 1_KiB, 0_B);
  some.ledger.reset_accumulated();
  some.ledger.lane(0).handed_out(large, negative(512_B), 0_B);
  const Stat bytes = some.ledger.read().allocated_bytes.large_pool;
  ASSERT_EQ(bytes, (Stat{512, 1024, -512, 0}));
  EXPECT_EQ(broken_in(some.ledger), Ids{"L1"});
}

TEST(Saboteur, L1_LessFreedThanNothing) {
  SomeLedger some;
  some.ledger.lane(0).handed_out(large, 0_B, 0_B);
  some.ledger.reset_accumulated();
  some.ledger.lane(0).freed(large, negative(512_B));
  const Stat bytes = some.ledger.read().allocated_bytes.large_pool;
  ASSERT_EQ(bytes, (Stat{512, 1024, 0, -512}));
  EXPECT_EQ(broken_in(some.ledger), Ids{"L1"});
}

TEST(Saboteur, L1_AHeapsLedger) {
  SmallHeap small;
  small.heap.ledger().reset_accumulated();
  small.heap.ledger().segment_removed(large, negative(2_MiB));
  small.heap.ledger().segment_added(large, negative(2_MiB));
  EXPECT_EQ(broken_in(small.heap), Ids{"L1"});
}

// ---- L2 to L8: the ledger and the blocks ----

// What is active is what is allocated and what is pending: of these three, two are wrong or none.

struct Posting {
  Bytes handed_out;
  Bytes freed;
  Bytes became_free;
  Bytes requested;
};

// A block that comes and goes with sizes that need not agree.
void post(Ledger& ledger, const Posting& posting) {
  ledger.lane(0).handed_out(large, posting.handed_out, posting.requested);
  ledger.lane(0).freed(large, posting.freed);
  ledger.lane(0).became_free(large, posting.became_free, 0_B);
}

TEST(Saboteur, L2_AnAllocationTooMany) {
  SmallHeap small;
  small.heap.ledger().lane(0).handed_out(large, 0_B, 0_B);
  small.heap.ledger().lane(0).became_free(large, 0_B, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L2", "L8"}));
}

TEST(Saboteur, L2_AllocatedBytesTooMany) {
  SmallHeap small;
  post(small.heap.ledger(), {512_B, 0_B, 512_B, 0_B});
  EXPECT_EQ(broken_in(small.heap), (Ids{"L2", "L8"}));
}

TEST(Saboteur, L2_AnAllocationOfTheWrongPool) {
  SmallHeap small;
  small.heap.ledger().lane(0).freed(PoolKind::small, 1_KiB);
  small.heap.ledger().lane(0).handed_out(large, 1_KiB, 0_B);
  small.heap.ledger().lane(0).became_free(large, 1_KiB, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L2", "L8"}));
}

TEST(Saboteur, L3_RequestedBytesTooMany) {
  SmallHeap small;
  post(small.heap.ledger(), {0_B, 0_B, 0_B, 100_B});
  EXPECT_EQ(broken_in(small.heap), Ids{"L3"});
}

TEST(Saboteur, L3_ARequestThatABlockForgot) {
  SmallHeap small;
  small.a.requested_size -= 1_B;
  EXPECT_EQ(broken_in(small.heap), Ids{"L3"});
}

TEST(Saboteur, L4_AnActiveBlockTooMany) {
  SmallHeap small;
  small.heap.ledger().lane(0).handed_out(large, 0_B, 0_B);
  small.heap.ledger().lane(0).freed(large, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

TEST(Saboteur, L4_ActiveBytesTooMany) {
  SmallHeap small;
  post(small.heap.ledger(), {512_B, 512_B, 0_B, 0_B});
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

TEST(Saboteur, L5_ASegmentTooMany) {
  SmallHeap small;
  small.heap.ledger().segment_added(large, 0_B);
  EXPECT_EQ(broken_in(small.heap), Ids{"L5"});
}

TEST(Saboteur, L5_ReservedBytesTooMany) {
  SmallHeap small;
  small.heap.ledger().segment_added(large, 2_MiB);
  small.heap.ledger().segment_removed(large, 0_B);
  EXPECT_EQ(broken_in(small.heap), Ids{"L5"});
}

TEST(Saboteur, L6_AnInactiveSplitBlockTooMany) {
  SmallHeap small;
  small.heap.ledger().lane(0).inactive_split_changed(large, 1, 0);
  EXPECT_EQ(broken_in(small.heap), Ids{"L6"});
}

TEST(Saboteur, L6_InactiveSplitBytesTooMany) {
  SmallHeap small;
  small.heap.ledger().lane(0).inactive_split_changed(large, 0, 512);
  EXPECT_EQ(broken_in(small.heap), Ids{"L6"});
}

// Blocks and segments of 32 MiB are oversize here, those of half that are not.
Options with_oversize_blocks() {
  Options options;
  options.max_split_size_bytes = (32_MiB).count;
  return options;
}

TEST(Saboteur, L7_AnOversizeAllocationTooMany) {
  SmallHeap small(with_oversize_blocks());
  ASSERT_EQ(broken_in(small.heap), Ids{});
  post(small.heap.ledger(), {32_MiB, 16_MiB, 16_MiB, 0_B});
  post(small.heap.ledger(), {0_B, 16_MiB, 16_MiB, 0_B});
  EXPECT_EQ(broken_in(small.heap), Ids{"L7"});
}

TEST(Saboteur, L7_AnOversizeAllocationThatIsNotCounted) {
  SmallHeap small(with_oversize_blocks());
  small.in_new_segment({stream_0, 32_MiB}, {spare_begin + 64_MiB, 32_MiB});
  ASSERT_EQ(broken_in(small.heap), Ids{});
  post(small.heap.ledger(), {16_MiB, 32_MiB, 32_MiB, 0_B});
  post(small.heap.ledger(), {16_MiB, 0_B, 0_B, 0_B});
  EXPECT_EQ(broken_in(small.heap), Ids{"L7"});
}

TEST(Saboteur, L7_AnOversizeSegmentTooMany) {
  SmallHeap small(with_oversize_blocks());
  small.heap.ledger().segment_added(large, 32_MiB);
  small.heap.ledger().segment_removed(large, 16_MiB);
  small.heap.ledger().segment_added(large, 0_B);
  small.heap.ledger().segment_removed(large, 16_MiB);
  EXPECT_EQ(broken_in(small.heap), Ids{"L7"});
}

TEST(Saboteur, L8_APendingBlockTooMany) {
  SmallHeap small;
  small.heap.ledger().lane(0).freed(large, 0_B);
  small.heap.ledger().lane(0).handed_out(large, 0_B, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

TEST(Saboteur, L8_APendingBlockTooFew) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  ASSERT_EQ(broken_in(small.heap), Ids{});
  small.heap.ledger().lane(0).became_free(large, 4_MiB, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

TEST(Saboteur, L8_PendingBytesTooMany) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  small.heap.ledger().lane(0).became_free(large, 0_B, 0_B);
  small.heap.ledger().lane(0).freed(large, 512_B);
  small.heap.ledger().lane(0).handed_out(large, 512_B, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

TEST(Saboteur, L8_APendingBlockOfTheWrongPool) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  small.heap.ledger().lane(0).became_free(large, 4_MiB, 0_B);
  small.heap.ledger().lane(0).freed(PoolKind::small, 4_MiB);
  small.heap.ledger().lane(0).handed_out(PoolKind::small, 4_MiB, 0_B);
  EXPECT_EQ(broken_in(small.heap), (Ids{"L4", "L8"}));
}

// ---- L9: what lanes may post by themselves ----

StatPart& allocated_bytes(Ledger& ledger, std::size_t lane) {
  return writable(std::as_const(ledger).lane(lane).part(Quantity::allocated_bytes));
}

// What is there stays.
void set_room_of_large(StatPart& part, std::int64_t room) {
  part.ceiling[1] += room - part.room.pools[1];
  part.room.pools[1] = room;
}

// 2 KiB at peak, all of it free now: two lanes share out what they may post.
struct LanesOfALedger : SomeLedger {
  LanesOfALedger() {
    ledger.lane(1).handed_out(large, 2_KiB, 0_B);
    ledger.lane(1).freed(large, 2_KiB);
    ledger.reset_peak();
    ledger.lane(0).handed_out(large, 4_KiB, 0_B);
    ledger.lane(0).freed(large, 4_KiB);
    ledger.lane(1).handed_out(large, 1_KiB, 0_B);
    ledger.lane(1).freed(large, 1_KiB);
  }
};

TEST(Saboteur, L9_ALaneAboveItsCeiling) {
  LanesOfALedger some;
  ASSERT_EQ(broken_in(some.ledger), Ids{});
  set_room_of_large(allocated_bytes(some.ledger, 1), -1);
  EXPECT_EQ(broken_in(some.ledger), Ids{"L9"});
}

TEST(Saboteur, L9_ALaneAboveTheCeilingOfBothPools) {
  LanesOfALedger some;
  allocated_bytes(some.ledger, 1).room.all = -1;
  EXPECT_EQ(broken_in(some.ledger), Ids{"L9"});
}

TEST(Saboteur, L9_CeilingsAboveThePeak) {
  LanesOfALedger some;
  const std::int64_t peak = some.ledger.read().allocated_bytes.large_pool.peak;
  set_room_of_large(allocated_bytes(some.ledger, 1), peak + 1);
  EXPECT_EQ(broken_in(some.ledger), Ids{"L9"});
}

TEST(Saboteur, L9_CeilingsAboveThePeakOfBothPools) {
  LanesOfALedger some;
  const std::int64_t peak = some.ledger.read().allocated_bytes.all.peak;
  allocated_bytes(some.ledger, 1).room.all = peak + 1;
  EXPECT_EQ(broken_in(some.ledger), Ids{"L9"});
}

TEST(Saboteur, L9_OfAHeapsLedger) {
  SmallHeap small;
  allocated_bytes(small.heap.ledger(), 5).room.all = -1;
  EXPECT_EQ(broken_in(small.heap), Ids{"L9"});
}

}  // namespace
}  // namespace cairn::invariants
