// Whom the judge blames for kernels that are unordered, or that run while their memory goes back.
#include <gtest/gtest.h>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr auto unordered = ViolationKind::unordered_reuse;
constexpr auto freed_in_use = ViolationKind::freed_while_in_use;
constexpr StreamRef ptds{0, per_thread_stream_handle};

using Blamed = ReuseTest;
using GivenBack = ReuseTest;

TEST_F(Blamed, TheProgramIfItsKernelDoesNotWaitForTheBlocksOwnStream) {
  live(s1);
  hand_out(block, s1);
  write(s2, block);
  expect_mistake("does not wait for the work that stood on the range's own stream, stream 1");
}

TEST_F(Blamed, TheAllocatorIfItDoes) {
  live(s1);
  work(s2, 10);
  hand_out(block, s2);
  order(s2, s3);
  write(s3, block);
  expect_violation(unordered, "on stream 1");
}

TEST_F(Blamed, TheAllocatorForWorkThatWasUnknownToTheBlocksOwnStreamToo) {
  live(s1);
  hand_out(block, s2);
  work(s2, 10);  // After the allocation: nobody need wait for it.
  write(s3, block);
  expect_violation(unordered, "a kernel on stream 3");
}

TEST_F(Blamed, TheAllocatorIfTheHostSawTheWorkOfTheBlocksOwnStreamDone) {
  live(s3);
  work(s1, 10);
  hand_out(block, s1);
  ASSERT_TRUE(gpu.synchronize(s1));
  write(s2, block);
  expect_violation(unordered, "on stream 3");
}

TEST_F(Blamed, TheProgramIfItsKernelDoesNotWaitForWhatTheLegacyRulePutsBeforeTheBlocksOwn) {
  live(s0);
  hand_out(block, ptds);
  write(s3, block);
  expect_mistake("does not wait");
}

TEST_F(Blamed, TheProgramIfNobodyKnewOfTheEarlierKernel) {
  hand_out(block, s1);
  write(s2, block);
  take_back(block);
  reuse(s1);
  expect_mistake("of which the allocator was not told");
}

TEST_F(Blamed, TheAllocatorIfItWasTold) {
  hand_out(block, s1);
  write(s2, block);
  take_back(block, {s2});
  reuse(s1);
  expect_violation(unordered, "on stream 2");
}

TEST_F(Blamed, TheAllocatorIfItWasToldBeforeTheBlockWasFreedOnceMore) {
  hand_out(block, s1);
  write(s2, block);
  take_back(block, {s2});
  hand_out(block, s1);
  take_back(block);
  reuse(s1);
  expect_violation(unordered, "on stream 2");
}

TEST_F(Blamed, TheAllocatorIfTheBlocksOwnStreamWaitedForTheEarlierKernel) {
  hand_out(block, s1);
  write(s2, block);
  order(s2, s1);
  take_back(block);
  reuse(s3);
  expect_violation(unordered, "on stream 2");
}

TEST_F(Blamed, TheProgramIfItWaitedAfterItsFree) {
  hand_out(block, s1);
  write(s2, block);
  take_back(block);
  order(s2, s1);
  reuse(s3);
  expect_mistake("of which the allocator was not told");
}

TEST_F(Blamed, TheAllocatorIfTheLegacyRuleMadeTheBlocksOwnStreamWait) {
  const StreamRef b1 = blocking();
  hand_out(block, s0);
  write(b1, block);
  take_back(block);
  reuse(s1);
  expect_violation(unordered, "stream 4");
}

TEST_F(Blamed, TheProgramForUsingABlockOfADeadStream) {
  live(s1);
  destroy(s1, false);
  hand_out(block, s1);
  write(s2, block);
  expect_mistake("does not wait");
}

TEST_F(Blamed, TheAllocatorIfAStreamThatIsDestroyedByNowHadWaited) {
  hand_out(block, s1);
  write(s2, block);
  order(s2, s1);
  destroy(s1);
  take_back(block);
  reuse(s3);
  expect_violation(unordered, "on stream 2");
}

// ---- memory given back to the driver ----

TEST_F(GivenBack, UnderARunningKernel) {
  live(s1);
  gpu.advance(9);
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_violation(freed_in_use, "went back to the driver while a kernel on stream 1");
}

TEST_F(GivenBack, WhenTheKernelIsDone) {
  live(s1);
  gpu.advance(10);
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_innocence();
}

TEST_F(GivenBack, UnderAKernelOfWhichNobodyKnew) {
  hand_out(block, s1);
  write(s2, block);
  take_back(block);
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_mistake("went back to the driver while a kernel on stream 2");
}

TEST_F(GivenBack, UnderOneKernelOfWhichNobodyKnewAndOneOfWhichItWasTold) {
  hand_out(block, s1);
  write(s2, block);
  write(s3, block);
  take_back(block, {s3});
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_violation(freed_in_use, "stream 3");
}

TEST_F(GivenBack, UnderAKernelThatOnlyWaits) {
  work(s2, 50);
  order(s2, s1);
  hand_out(block, s1);
  write(s1, block, 0);
  take_back(block);
  gpu.advance(49);
  ASSERT_TRUE(gpu.free(0, home.begin));
  expect_violation(freed_in_use, "stream 1");
}

TEST_F(GivenBack, ANeighbourThatIsInUseDoesNotMatter) {
  const Span other = segment();
  live(s1);
  ASSERT_TRUE(gpu.free(0, other.begin));
  expect_innocence();
}

TEST_F(GivenBack, MemoryThatComesAgainIsNew) {
  live(s1);
  gpu.advance(10);
  ASSERT_TRUE(gpu.free(0, home.begin));
  ASSERT_TRUE(gpu.set_next_address(0, home.begin));
  ASSERT_EQ(segment().begin, home.begin);
  reuse(s2);
  expect_innocence();
}

}  // namespace
}  // namespace cairn::simulator
