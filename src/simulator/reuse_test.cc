// Which kernels that use the same bytes the judge finds unordered, and what orders them.
#include <gtest/gtest.h>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr auto unordered = ViolationKind::unordered_reuse;
constexpr StreamRef ptds{0, per_thread_stream_handle};

using Judged = ReuseTest;
using Ordered = ReuseTest;

// ---- what is a race ----

TEST_F(Judged, ReuseByTheSameStreamIsOrdered) {
  live(s1);
  reuse(s1);
  expect_innocence();
}

TEST_F(Judged, ReuseByAnotherStreamThatWaitsForNothingIsAViolation) {
  live(s1);
  reuse(s2);
  expect_violation(unordered,
                   "a kernel on stream 2 writes 1048576 bytes at 0x100000000000 on device 0, "
                   "unordered with an earlier one on stream 1 that writes some of it");
}

TEST_F(Judged, OneByteIsEnough) {
  live(s1);
  hand_out({block.end(), 512_B}, s2);
  hand_out({block.begin + 512_KiB, 512_B}, s2);
  write(s2, {block.end(), 512_B});
  expect_innocence();
  write(s2, {block.begin + 512_KiB, 1_B});
  expect_violation(unordered, "writes 1 bytes");
}

TEST_F(Judged, ARaceIsOneThoughTheClockLetItPass) {
  live(s1);
  gpu.advance(100);
  reuse(s2);
  expect_violation(unordered, "stream 1");
}

TEST_F(Judged, ReadsDoNotRaceWithReads) {
  hand_out(block, s1);
  read(s1, block);
  take_back(block);
  hand_out(block, s2);
  read(s2, block);
  expect_innocence();
  write(s2, block);
  expect_violation(unordered, "on stream 1 that reads");
}

TEST_F(Judged, AReadRacesWithAnEarlierWrite) {
  live(s1);
  hand_out(block, s2);
  read(s2, block);
  expect_violation(unordered, "reads 1048576 bytes");
}

TEST_F(Judged, WithinOneOwnershipRacesAreTheProgramsBusiness) {
  hand_out(block, s1);
  write(s1, block);
  write(s2, block);
  write(s3, block);
  read(s1, block);
  expect_innocence();
}

TEST_F(Judged, ABlockThatIsSplitAndMergedRemembersEachPart) {
  const Span low{block.begin, 512_KiB};
  const Span high{low.end(), 512_KiB};
  live(s1);
  hand_out(low, s1);
  write(s1, low);
  take_back(low);
  ASSERT_TRUE(gpu.synchronize(s1));
  hand_out(high, s3);
  write(s3, high);
  take_back(high);
  reuse(s2);
  expect_violation(unordered, "on stream 3");
}

TEST_F(Judged, AKernelOfALaterOwnershipDoesNotHideAnEarlierOne) {
  live(s1);
  hand_out(block, s2);
  write(s1, block);  // Ordered with its own past, unordered with what the next one does.
  write(s2, block);
  expect_violation(unordered, "on stream 2");
}

TEST_F(Judged, AReadDoesNotAnswerForAWrite) {
  live(s1);
  for (const StreamRef reader : {s1, s1, s2}) {
    hand_out(block, reader);
    read(reader, block);
    take_back(block);
  }
  expect_violation(unordered, "on stream 1 that writes");
}

TEST_F(Judged, AThirdOwnershipAnswersForTheSecond) {
  live(s1);
  live(s1);
  hand_out(block, s1);
  write(s1, block);
  take_back(block);
  reuse(s2);
  // One report for each kernel that is remembered: this ownership's, and the one's before.
  EXPECT_EQ(seen(), std::vector(2, unordered));
}

TEST_F(Judged, AKernelOnMemoryThatTheDriverHasBack) {
  hand_out(block, s1);
  ASSERT_TRUE(gpu.free(0, home.begin));
  write(s1, block);
  EXPECT_EQ(seen(),
            (std::vector{ViolationKind::freed_while_held, ViolationKind::used_while_not_out}));
}

// ---- what orders ----

TEST_F(Ordered, ByAWaitOfTheStreams) {
  live(s1);
  order(s1, s2);
  reuse(s2);
  expect_innocence();
}

TEST_F(Ordered, ByWaitsOverAThirdStream) {
  live(s1);
  order(s1, s3);
  order(s3, s2);
  reuse(s2);
  expect_innocence();
}

TEST_F(Ordered, NotByAWaitThatCameTooEarlyOrGoesTheOtherWay) {
  order(s1, s2);
  live(s1);
  order(s2, s1);
  reuse(s2);
  expect_violation(unordered, "stream 1");
}

TEST_F(Ordered, ByAnEventThatTheHostSawDone) {
  live(s1);
  const EventHandle e = recorded(s1);
  gpu.advance(10);
  ASSERT_TRUE(is_done(e));
  reuse(s2);
  expect_innocence();
}

TEST_F(Ordered, NotByAnEventThatWasNotDone) {
  live(s1);
  const EventHandle e = recorded(s1);
  gpu.advance(9);
  ASSERT_FALSE(is_done(e));
  gpu.advance(1);
  reuse(s2);
  expect_violation(unordered, "stream 1");
}

TEST_F(Ordered, NotByAnEventThatIsOlderThanTheWork) {
  const EventHandle e = recorded(s1);
  live(s1);
  gpu.advance(10);
  ASSERT_TRUE(is_done(e));
  reuse(s2);
  expect_violation(unordered, "stream 1");
}

TEST_F(Ordered, ByWaitingForTheEventTheStreamOrTheDevice) {
  live(s1);
  ASSERT_TRUE(gpu.event_sync(0, recorded(s1)));
  live(s2);
  ASSERT_TRUE(gpu.stream_sync(s2));
  live(s3);
  ASSERT_TRUE(gpu.device_sync(0));
  live(s1);
  ASSERT_TRUE(gpu.synchronize(s1));
  live(s2);
  ASSERT_TRUE(gpu.synchronize(0));
  live(s3);
  const EventHandle all = event();
  ASSERT_TRUE(gpu.ctx_record(0, all));
  ASSERT_TRUE(gpu.event_sync(0, all));
  live(s1);
  expect_innocence();
}

TEST_F(Ordered, ByWhatTheHostSawOfAStreamThatWaitedForIt) {
  live(s1);
  order(s1, s3);
  ASSERT_TRUE(gpu.stream_sync(s3));
  reuse(s2);
  expect_innocence();
}

TEST_F(Ordered, NotByWaitingForAnotherStreamThoughItTookLonger) {
  live(s1);
  work(s3, 100);
  ASSERT_TRUE(gpu.stream_sync(s3));
  reuse(s2);
  expect_violation(unordered, "stream 1");
}

TEST_F(Ordered, ByTheRuleOfTheLegacyStream) {
  const StreamRef b1 = blocking();
  live(b1);
  live(s0);
  live(ptds);
  live(s0);
  live(b1);
  expect_innocence();
}

TEST_F(Ordered, ByALegacyKernelBetweenTwoBlockingStreams) {
  const StreamRef b1 = blocking();
  live(ptds);
  work(s0, 0);
  live(b1);
  expect_innocence();
}

TEST_F(Ordered, NotBetweenTwoBlockingStreams) {
  live(blocking());
  reuse(ptds);
  expect_violation(unordered, "stream 4");
}

TEST_F(Ordered, NotBetweenTheLegacyStreamAndOneThatDoesNotBlock) {
  live(s0);
  reuse(s1);
  expect_violation(unordered, "the legacy default stream of device 0");
}

}  // namespace
}  // namespace cairn::simulator
