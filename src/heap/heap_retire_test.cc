// Streams that end: their memory and the uses by them stand under another name.
#include <gtest/gtest.h>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr DeviceIndex here = 2;  // The device of a HeapInTest.
constexpr StreamId gone = retired_stream(1);

TEST(HeapKnows, AStreamWithASegment) {
  HeapInTest heap;
  EXPECT_FALSE(heap->knows({here, s1}));
  heap.free(heap.allocate(20_MiB, s1));
  EXPECT_TRUE(heap->knows({here, s1}));
  EXPECT_FALSE(heap->knows({here, s0}));
  EXPECT_FALSE(heap->knows({here + 1, s1}));
  heap.remove_segment(heap->releasable()[0]->span.begin);
  EXPECT_FALSE(heap->knows({here, s1}));
}

TEST(HeapKnows, AStreamThatUsesALiveBlock) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  heap.add_use(a, {here + 1, s1});
  heap.add_use(a, {here, s2});
  EXPECT_TRUE(heap->knows({here + 1, s1}));
  EXPECT_TRUE(heap->knows({here, s2}));
  EXPECT_FALSE(heap->knows({here, s1}));
  EXPECT_FALSE(heap->knows({here + 1, s2}));
  heap.free_after_events(a, 2);
  EXPECT_FALSE(heap->knows({here, s2}));
}

TEST(HeapRetire, MemoryOfBothPoolsLeavesTheKey) {
  HeapInTest heap;
  const Address small = heap.allocate(1_KiB, s1);
  const Address large = heap.allocate(20_MiB, s1);
  const Address other = heap.allocate(20_MiB, s2);
  for (const Address address : {small, large, other}) heap.free(address);
  heap.retire_stream({here, s1}, gone);
  EXPECT_FALSE(heap->knows({here, s1}));
  EXPECT_TRUE(heap->knows({here, gone}));
  EXPECT_EQ(heap.cached({s1, 1_KiB}), Address{});  // The handle names a new stream.
  EXPECT_EQ(heap.cached({s1, 20_MiB}), Address{});
  EXPECT_EQ(heap.cached({gone, 1_KiB}), small);
  EXPECT_EQ(heap.cached({gone, 20_MiB}), large);
  EXPECT_EQ(heap.cached({s2, 20_MiB}), other);
  for (const SegmentInfo& segment : heap->map()) EXPECT_NE(segment.stream, s1.value);
}

TEST(HeapRetire, TheHandleComesAgain) {
  HeapInTest heap;
  const Address of_old = heap.allocate(1_KiB, s1);
  heap.retire_stream({here, s1}, gone);
  const Address of_new = heap.allocate(1_KiB, s1);
  EXPECT_EQ(heap.blocks(), "live 1KiB, free 2047KiB | live 1KiB, free 2047KiB");
  heap.free(of_old);
  heap.free(of_new);
  EXPECT_EQ(heap.cached({s1, 2_KiB}), of_new);
  heap.retire_stream({here, s1}, retired_stream(2));
  EXPECT_EQ(heap.cached({gone, 2_KiB}), of_old);
  EXPECT_EQ(heap->find_live(of_new)->stream, retired_stream(2));
}

TEST(HeapRetire, LiveBlocksAndThoseThatWaitComeBackUnderTheNewName) {
  HeapInTest heap;
  const Address live = heap.allocate(20_MiB, s1);
  const Address waits = heap.allocate(30_MiB, s1);
  Block& block = heap.free_after_events(waits, 1);
  heap.retire_stream({here, s1}, gone);
  heap.free(live);
  heap.event_done(block);
  EXPECT_EQ(heap.cached({gone, 20_MiB}), live);
  EXPECT_EQ(heap.cached({gone, 30_MiB}), waits);
}

TEST(HeapRetire, UsesStayInOrder) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB);
  const Address b = heap.allocate(1_KiB);
  for (const StreamId stream : {s1, s2}) heap.add_use(a, {here, stream});
  heap.add_use(b, {here, s2});
  heap.add_use(b, {here + 1, s1});
  heap.retire_stream({here, s1}, gone);
  EXPECT_EQ(heap.uses(a), "2/82 2/" + std::to_string(gone.value));
  EXPECT_EQ(heap.uses(b), "2/82 3/81");
  EXPECT_TRUE(heap->knows({here, gone}));
  EXPECT_TRUE(heap.add_use(a, {here, s1}));  // By the new stream of that handle.
}

TEST(HeapRetire, AStreamOfAnotherDeviceHasUsesAlone) {
  HeapInTest heap;
  const Address a = heap.allocate(1_KiB, s1);
  heap.add_use(a, {here + 1, s1});
  heap.retire_stream({here + 1, s1}, gone);
  EXPECT_EQ(heap.uses(a), "3/" + std::to_string(gone.value));
  EXPECT_EQ(heap->find_live(a)->stream, s1);
  EXPECT_TRUE(heap->knows({here, s1}));
  EXPECT_TRUE(heap->knows({here + 1, gone}));
}

TEST(HeapRetire, TheMarkGoesAlong) {
  HeapInTest heap;
  heap.free(heap.allocate(1_KiB, s1));
  heap.retire_stream({here, s1}, gone);
  EXPECT_TRUE(heap->may_be_in_use(gone));
  EXPECT_FALSE(heap->may_be_in_use(s1));
}

TEST(HeapRetire, AStreamThatIsNotKnownChangesNothing) {
  HeapInTest heap;
  heap.add_use(heap.allocate(1_KiB), {here, s2});
  heap.retire_stream({here, s1}, gone);
  EXPECT_FALSE(heap->knows({here, gone}));
}

}  // namespace
}  // namespace cairn
