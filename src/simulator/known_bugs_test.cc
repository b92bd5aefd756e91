// Ordering bugs that allocators have had, as the judge sees them: the story of each with an
// allocator that makes the mistake, and with one that does not.
#include <gtest/gtest.h>

#include <thread>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr auto unordered = ViolationKind::unordered_reuse;
constexpr auto freed_in_use = ViolationKind::freed_while_in_use;
constexpr StreamRef ptds{0, per_thread_stream_handle};

using TwoUses = ReuseTest;
using Merge = ReuseTest;
using KnownBug = ReuseTest;

// ---- a block used by two streams beside its own: the allocator must fence both ----

TEST_F(TwoUses, OnlyOneOfThemIsFenced) {
  hand_out(block, s1);
  write(s2, block, 10);
  write(s3, block, 20);
  const EventHandle fence = recorded(s2);
  take_back(block, {s2, s3});
  gpu.advance(10);
  ASSERT_TRUE(is_done(fence));
  reuse(s1);
  expect_violation(unordered, "on stream 3");
}

TEST_F(TwoUses, TheUnfencedOneHappensToBeDone) {
  hand_out(block, s1);
  write(s2, block, 20);
  write(s3, block, 10);
  const EventHandle fence = recorded(s2);
  take_back(block, {s2, s3});
  gpu.advance(20);
  ASSERT_TRUE(is_done(fence));
  reuse(s1);
  expect_violation(unordered, "on stream 3");
}

TEST_F(TwoUses, BothAreFenced) {
  hand_out(block, s1);
  write(s2, block, 10);
  write(s3, block, 20);
  const EventHandle fence = recorded(s2);
  const EventHandle other = recorded(s3);
  take_back(block, {s2, s3});
  gpu.advance(20);
  ASSERT_TRUE(is_done(fence));
  ASSERT_TRUE(is_done(other));
  reuse(s1);
  expect_innocence();
}

// ---- B005: a free list per stream, each with an event; lists are merged and stolen from ----

TEST_F(Merge, TheNextThiefWaitsForAnEventThatIsOlderThanTheMerge) {
  const EventHandle of_s2 = recorded(s2);
  live(s1);
  order(s1, s2);  // s2 takes the list of s1, but its own event stays as it was.
  ASSERT_TRUE(is_done(of_s2));
  hand_out(block, s3);
  write(s3, block);
  expect_violation(unordered, "on stream 1");
}

TEST_F(Merge, TheNextThiefWaitsForTheStreamThatMerged) {
  live(s1);
  order(s1, s2);
  order(s2, s3);
  reuse(s3);
  expect_innocence();
}

TEST_F(Merge, AStealThatDoesNotWait) {
  live(s1);
  reuse(s2);
  expect_violation(unordered, "on stream 1");
}

// ---- others ----

// B007: one list for a copy stream and a compute stream, in the order of the host's frees.
TEST_F(KnownBug, B007_AUseOnAnotherStreamThatIsNotFenced) {
  hand_out(block, s0);
  read(s1, block, 100);
  take_back(block, {s1});
  reuse(s0);
  expect_violation(unordered, "on stream 1 that reads");
}

TEST_F(KnownBug, B007_AUseOnAnotherStreamThatWasNotTold) {
  hand_out(block, s0);
  read(s1, block, 100);
  take_back(block);
  reuse(s0);
  expect_mistake("not told");
}

// B009: two threads whose default streams have one handle.
TEST_F(KnownBug, B009_TheDefaultStreamOfAnotherThreadIsAnotherStream) {
  live(ptds);
  std::thread([&] { reuse(ptds); }).join();
  expect_violation(unordered, "the default stream of thread");
}

TEST_F(KnownBug, B009_TheSameThreadsIsTheSame) {
  live(ptds);
  reuse(ptds);
  expect_innocence();
}

// B011: a new stream under the handle of a dead one.
TEST_F(KnownBug, B011_AStreamUnderARecycledHandleIsAnotherStream) {
  live(s1);
  destroy(s1);
  const StreamRef again = under_handle_of(s1);
  ASSERT_EQ(again, s1);
  reuse(again);
  expect_violation(unordered, "a kernel on stream 4 writes");
}

TEST_F(KnownBug, B011_TheDeadStreamWasFenced) {
  live(s1);
  const EventHandle fence = recorded(s1);
  destroy(s1);
  const StreamRef again = under_handle_of(s1);
  ASSERT_TRUE(gpu.event_sync(0, fence));
  reuse(again);
  expect_innocence();
}

TEST_F(KnownBug, B011_AUseIsFencedThroughTheHandleOfADeadStream) {
  hand_out(block, s1);
  write(s2, block);
  destroy(s2);
  EXPECT_EQ(gpu.event_record(s2, event()).error(), CudaStatus::invalid_handle);
  expect_violation(ViolationKind::dead_handle, "event_record of the stream 0x5010");
}

// B015: an event of one device for the stream of another; the caller goes on as if it were
// recorded.
TEST_F(KnownBug, B015_AnEventThatWasNotRecordedOrdersNothing) {
  const StreamRef other{1, per_thread_stream_handle};
  const EventHandle of_device_0 = event();
  live(s1);
  work(other, 10);
  EXPECT_TRUE(gpu.event_record(other, of_device_0).failed());
  gpu.advance(10);
  EXPECT_TRUE(is_done(of_device_0));
  reuse(s2);
  expect_violation(unordered, "on stream 1");
}

// B019: the driver's free waits for nothing.
TEST_F(KnownBug, B019_MemoryGoesBackUnderWorkOfAStreamThatDoesNotBlock) {
  live(s1);
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_violation(freed_in_use, "stream 1");
}

TEST_F(KnownBug, B019_TheStreamWasWaitedForButNotTheOneThatUsedItToo) {
  hand_out(block, s1);
  write(s1, block, 10);
  write(s2, block, 20);
  take_back(block, {s2});
  ASSERT_TRUE(gpu.stream_sync(s1));
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_violation(freed_in_use, "stream 2");
}

TEST_F(KnownBug, B019_AllWasWaitedFor) {
  hand_out(block, s1);
  write(s1, block, 10);
  write(s2, block, 20);
  take_back(block, {s2});
  ASSERT_TRUE(gpu.event_sync(0, recorded(s2)));
  ASSERT_TRUE(gpu.stream_sync(s1));
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_innocence();
}

}  // namespace
}  // namespace cairn::simulator
