// Uses by other streams, blocks that wait for events, and what may still be in use.
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr DeviceIndex here = 2;  // The device of a HeapInTest.
constexpr StreamKey use_s0{here, s0};
constexpr StreamKey use_s1{here, s1};
constexpr StreamKey use_s2{here, s2};

// ---- uses ----

TEST(HeapUses, AreListedInOrderEachOnce) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  EXPECT_EQ(heap.uses(a), "");
  EXPECT_TRUE(heap.add_use(a, use_s2));
  EXPECT_TRUE(heap.add_use(a, use_s1));
  EXPECT_TRUE(heap.add_use(a, {here - 1, s2}));
  EXPECT_FALSE(heap.add_use(a, use_s1));
  EXPECT_FALSE(heap.add_use(a, use_s2));
  EXPECT_EQ(heap.uses(a), "1/82 2/81 2/82");
}

TEST(HeapUses, TheBlocksOwnStreamIsNone) {
  HeapInTest heap;
  const Address on_default = heap.allocate(1_KiB);
  const Address on_s1 = heap.allocate(1_KiB, s1);
  EXPECT_FALSE(heap.add_use(on_default, use_s0));
  EXPECT_FALSE(heap.add_use(on_s1, use_s1));
  EXPECT_TRUE(heap->cold_fields().empty());
}

TEST(HeapUses, TheDefaultStreamOfAnotherDeviceIsOne) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  EXPECT_TRUE(heap.add_use(a, {here + 1, s0}));
  EXPECT_EQ(heap.uses(a), "3/0");
}

// V6
TEST(HeapUses, WithPyTorchsDefectsTheSameHandleOfAnotherDeviceIsNone) {
  Options options;
  options.pytorch_defects = true;
  HeapInTest heap(options);
  const Address a = heap.allocate(1_KiB);
  EXPECT_FALSE(heap.add_use(a, {here - 1, s0}));
  EXPECT_TRUE(heap.add_use(a, {here - 1, s1}));
  EXPECT_TRUE(heap.add_use(a, use_s1));
  EXPECT_EQ(heap.uses(a), "1/81 2/81");
}

TEST(HeapUses, CanBeTakenBack) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  const Address b = heap.allocate(1_KiB);
  for (const StreamKey use : {use_s1, use_s2}) {
    heap.add_use(a, use);
    heap.add_use(b, use);
  }
  heap.remove_use(a, use_s1);
  EXPECT_EQ(heap.uses(a), "2/82");
  heap.remove_use(a, use_s2);
  EXPECT_EQ(heap.uses(a), "");
  EXPECT_EQ(heap.uses(b), "2/81 2/82");
  EXPECT_TRUE(heap.add_use(a, use_s1));
}

TEST(HeapUses, EndWithTheBlock) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  heap.add_use(a, use_s1);
  heap.free(a);
  EXPECT_FALSE(heap->knows(use_s1));
  EXPECT_EQ(heap.cached({s0, 1_KiB}), a);
  EXPECT_EQ(heap.uses(a), "");
  heap.add_use(a, use_s2);
  heap.event_done(heap.free_after_events(a, 1));
  EXPECT_EQ(heap.cached({s0, 1_KiB}), a);
  EXPECT_EQ(heap.uses(a), "");
}

// ---- blocks that wait for events ----

TEST(HeapPending, ABlockIsNeitherLiveNorFree) {
  HeapInTest heap;
  const Address a = heap.allocate({s0, 1_MiB - 100_B});
  heap.add_use(a, use_s1);
  const Block& block = heap.free_after_events(a, 2);
  EXPECT_EQ(block.event_count, 2);
  EXPECT_EQ(heap.blocks(), "pending 1MiB, free 1MiB");
  EXPECT_EQ(heap->map()[0].blocks[0].requested_size_bytes, (1_MiB - 100_B).count);
  EXPECT_EQ(heap->find_live(a), nullptr);
  EXPECT_EQ(heap.cached({s0, 1_MiB}), a + 1_MiB);
  EXPECT_EQ(heap.cached({s0, 512_B}), Address{});
}

TEST(HeapPending, ABlockIsActiveAndNotAllocated) {
  HeapInTest heap;
  const Address a = heap.allocate({s0, 1_KiB - 1_B});
  Block& block = heap.free_after_events(a, 1);
  EXPECT_EQ(heap.stats().allocation.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(heap.stats().allocated_bytes.small_pool, (Stat{0, 1024, 1024, 1024}));
  EXPECT_EQ(heap.stats().active.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(heap.stats().active_bytes.small_pool, (Stat{1024, 1024, 1024, 0}));
  EXPECT_EQ(heap.stats().requested_bytes.all, (Stat{1023, 1023, 1023, 0}));
  EXPECT_EQ(heap->ledger().pending().blocks, (std::array<std::int64_t, 2>{1, 0}));
  EXPECT_EQ(heap->ledger().pending().bytes, (std::array<std::int64_t, 2>{1024, 0}));
  heap.event_done(block);
  EXPECT_EQ(heap.stats().active.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(heap.stats().active_bytes.all, (Stat{0, 1024, 1024, 1024}));
  EXPECT_EQ(heap.stats().requested_bytes.all, (Stat{0, 1023, 1023, 1023}));
  EXPECT_EQ(heap.stats().allocation.all, (Stat{0, 1, 1, 1}));
  EXPECT_FALSE(heap->ledger().pending().is_any());
}

TEST(HeapPending, ABlockIsFreeAfterItsLastEvent) {
  HeapInTest heap;
  const Address a = heap.allocate(20_MiB);
  Block& block = heap.free_after_events(a, 3);
  heap.event_done(block);
  heap.event_done(block);
  EXPECT_EQ(block.event_count, 1);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), Address{});
  heap.event_done(block);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), a);
}

// Three blocks side by side, of a segment that they fill.
struct ThreeBlocks {
  HeapInTest heap;
  Address a = heap.allocate(512_KiB);
  Address b = heap.allocate(512_KiB);
  Address c = heap.allocate(1_MiB);
};

TEST(HeapPending, NoNeighbourMergesWithABlockThatWaits) {
  ThreeBlocks three;
  HeapInTest& heap = three.heap;
  Block& waits = heap.free_after_events(three.b, 1);
  heap.free(three.a);
  heap.free(three.c);
  EXPECT_EQ(heap.blocks(), "free 512KiB, pending 512KiB, free 1MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "2: 1536KiB");
  heap.event_done(waits);
  EXPECT_EQ(heap.blocks(), "free 2MiB");
  EXPECT_EQ(heap.inactive_split(PoolKind::small), "0: 0B");
}

TEST(HeapPending, ABlockDoesNotMergeWithNeighboursThatWait) {
  ThreeBlocks three;
  HeapInTest& heap = three.heap;
  Block& below = heap.free_after_events(three.a, 1);
  Block& above = heap.free_after_events(three.c, 1);
  heap.free(three.b);
  EXPECT_EQ(heap.blocks(), "pending 512KiB, free 512KiB, pending 1MiB");
  heap.event_done(above);
  EXPECT_EQ(heap.blocks(), "pending 512KiB, free 1536KiB");
  heap.event_done(below);
  EXPECT_EQ(heap.blocks(), "free 2MiB");
}

TEST(HeapPending, NeighboursThatWaitBecomeFreeInAnyOrder) {
  const std::array<std::array<int, 3>, 6> orders{
      {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};
  for (const std::array<int, 3>& order : orders) {
    ThreeBlocks three;
    std::vector<Block*> blocks;
    for (const Address address : {three.a, three.b, three.c}) {
      blocks.push_back(&three.heap.free_after_events(address, 1));
    }
    EXPECT_EQ(three.heap.blocks(), "pending 512KiB, pending 512KiB, pending 1MiB");
    for (const int i : order) three.heap.event_done(*blocks[static_cast<std::size_t>(i)]);
    EXPECT_EQ(three.heap.blocks(), "free 2MiB");
    EXPECT_EQ(three.heap->releasable().size(), 1U);
  }
}

TEST(HeapPending, ABlockKeepsItsSegment) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  options.garbage_collection_threshold = 0.1;
  HeapInTest heap(options);
  Block& block = heap.free_after_events(heap.allocate(30_MiB), 1);
  EXPECT_TRUE(heap->releasable().empty());
  EXPECT_TRUE(heap->oversize_releasable({s0, 30_MiB}).segments.empty());
  EXPECT_TRUE(heap->garbage(30_MiB).empty());
  heap.event_done(block);
  EXPECT_EQ(heap->releasable().size(), 1U);
  EXPECT_EQ(heap->oversize_releasable({s0, 30_MiB}).segments.size(), 1U);
  EXPECT_EQ(heap->garbage(30_MiB).size(), 1U);
}

// ---- what may still be in use ----

TEST(HeapMayBeInUse, FromTheFreeOfABlockToMarkIdle) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB, s1);
  EXPECT_FALSE(heap->may_be_in_use(s1));  // What was split off was never used.
  heap.free(a);
  EXPECT_TRUE(heap->may_be_in_use(s1));
  EXPECT_FALSE(heap->may_be_in_use(s0));
  heap->mark_idle(s0);
  EXPECT_TRUE(heap->may_be_in_use(s1));
  heap->mark_idle(s1);
  EXPECT_FALSE(heap->may_be_in_use(s1));
  EXPECT_EQ(heap.cached({s1, 1_KiB}), a);
  EXPECT_FALSE(heap->may_be_in_use(s1));
}

TEST(HeapMayBeInUse, IsOfBothPools) {
  HeapInTest heap;
  const Address small = heap.allocate(1_KiB);
  const Address large = heap.allocate(20_MiB);
  heap.free(small);
  EXPECT_TRUE(heap->may_be_in_use(s0));
  heap->mark_idle(s0);
  heap.free(large);
  EXPECT_TRUE(heap->may_be_in_use(s0));
  heap.free(heap.allocate(1_KiB));
  heap->mark_idle(s0);
  EXPECT_FALSE(heap->may_be_in_use(s0));
}

TEST(HeapMayBeInUse, ABlockThatWaitsCountsFromItsLastEvent) {
  HeapInTest heap;
  Block& block = heap.free_after_events(heap.allocate(1_KiB), 2);
  EXPECT_FALSE(heap->may_be_in_use(s0));
  heap.event_done(block);
  EXPECT_FALSE(heap->may_be_in_use(s0));
  heap.event_done(block);
  EXPECT_TRUE(heap->may_be_in_use(s0));
}

TEST(HeapMayBeInUse, IsOfAStreamThatHasMemory) {
  HeapInTest heap;
  const Address large = heap.allocate(20_MiB);
  heap.free(heap.allocate(1_KiB));
  heap.free(large);
  heap->mark_idle(s0);
  heap.remove_segment(large);
  heap.drop_empty_shares();
  EXPECT_FALSE(heap->may_be_in_use(s0));
  heap.free(heap.allocate(1_KiB));
  heap.drop_empty_shares();
  EXPECT_TRUE(heap->may_be_in_use(s0));
}

}  // namespace
}  // namespace cairn
