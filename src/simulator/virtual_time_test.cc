// When kernels end, and which wait for which: by streams, by order, by the rule of the legacy
// default stream, and by waiting.
#include <gtest/gtest.h>

#include <thread>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using VirtualTime = MachineTest;
using LegacyRule = MachineTest;

constexpr StreamRef ptds{0, per_thread_stream_handle};

TEST_F(VirtualTime, AKernelEndsWhenItsTicksHavePassed) {
  const StreamRef s1 = stream();
  work(s1, 10);
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(9);
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(1);
  EXPECT_TRUE(is_idle(s1));
}

TEST_F(VirtualTime, KernelsOfOneStreamRunOneAfterAnotherAndThoseOfTwoAtATime) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream();
  work(s1, 10);
  const EventHandle first = recorded(s1);
  work(s1, 10);
  work(s2, 10);
  gpu.advance(10);
  EXPECT_TRUE(is_done(first));
  EXPECT_TRUE(is_idle(s2));
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(s1));
}

TEST_F(VirtualTime, AKernelStartsWhenItIsLaunchedNotBefore) {
  const StreamRef s1 = stream();
  gpu.advance(7);
  work(s1, 10);
  gpu.advance(9);
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(1);
  EXPECT_TRUE(is_idle(s1));
}

TEST_F(VirtualTime, WorkOfNoTicksIsDoneWhenItStarts) {
  const StreamRef s1 = stream();
  work(s1, 0);
  EXPECT_TRUE(is_idle(s1));
  work(s1, 10);
  work(s1, 0);
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(s1));
}

TEST_F(VirtualTime, OrderedWorkWaitsForWhatWasOnTheOtherStream) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream(1);
  work(s1, 10);
  order(s1, s2);
  work(s1, 100);  // Too late to be waited for.
  work(s2, 5);
  gpu.advance(14);
  EXPECT_FALSE(is_idle(s2));
  gpu.advance(1);
  EXPECT_TRUE(is_idle(s2));
  EXPECT_FALSE(is_idle(s1));
}

TEST_F(VirtualTime, OrderReachesOverAStreamThatHasNoWorkOfItsOwn) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream();
  const StreamRef s3 = stream();
  work(s1, 10);
  order(s1, s2);
  order(s2, s3);
  EXPECT_FALSE(is_idle(s3));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(s3));
  order(s3, s3);
  EXPECT_TRUE(is_idle(s3));
}

TEST_F(VirtualTime, AWaitMovesTheClockToTheEndOfTheWorkAwaitedAndNoFurther) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream();
  const StreamRef s3 = stream();
  work(s1, 10);
  work(s2, 20);
  work(s3, 30);
  ASSERT_TRUE(gpu.synchronize(s2));
  EXPECT_TRUE(is_idle(s1));
  EXPECT_TRUE(is_idle(s2));
  EXPECT_FALSE(is_idle(s3));
  ASSERT_TRUE(gpu.synchronize(s1));  // Nothing to wait for: the clock stands.
  gpu.advance(9);
  EXPECT_FALSE(is_idle(s3));
  gpu.advance(1);
  EXPECT_TRUE(is_idle(s3));
}

TEST_F(VirtualTime, TheDriverWaitsAsTheApplicationDoes) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream();
  work(s1, 10);
  const EventHandle middle = recorded(s1);
  work(s1, 10);
  work(s2, 30);
  ASSERT_TRUE(gpu.event_sync(0, middle));
  EXPECT_FALSE(is_idle(s1));
  ASSERT_TRUE(gpu.stream_sync(s1));
  EXPECT_TRUE(is_idle(s1));
  EXPECT_FALSE(is_idle(s2));
  ASSERT_TRUE(gpu.device_sync(0));
  EXPECT_TRUE(is_idle(s2));
}

TEST_F(VirtualTime, ADeviceIsAwaitedWithItsDestroyedStreamsAndWithoutOtherDevicesOrContexts) {
  const StreamRef s1 = stream();
  const StreamRef elsewhere = stream(1);
  const auto context = gpu.make_context(0);
  const StreamRef apart = *gpu.make_stream({.context = *context});
  work(s1, 10);
  destroy(s1);
  const EventHandle all = event();
  ASSERT_TRUE(gpu.ctx_record(0, all));
  work(elsewhere, 11);
  work(apart, 11);
  EXPECT_FALSE(is_done(all));
  ASSERT_TRUE(gpu.synchronize(0));
  EXPECT_TRUE(is_done(all));
  EXPECT_FALSE(is_idle(elsewhere));
  const EventHandle after = *gpu.event_create(0, *context);
  ASSERT_TRUE(gpu.event_record(apart, after));
  EXPECT_FALSE(is_done(after));
  gpu.advance(1);
  EXPECT_TRUE(is_done(after));
}

TEST_F(VirtualTime, TimeEndsAndDoesNotBeginAnew) {
  const StreamRef s1 = stream();
  work(s1, ~Ticks{0});
  work(s1, 10);
  gpu.advance(~Ticks{0} - 1);
  EXPECT_FALSE(is_idle(s1));
  gpu.advance(100);
  EXPECT_TRUE(is_idle(s1));
}

TEST_F(LegacyRule, HandlesZeroAndOneAreOneStreamOfTheDevice) {
  const StreamRef one{0, legacy_stream_handle};
  work(s0, 10);
  EXPECT_FALSE(is_idle(one));
  EXPECT_EQ(gpu.identify(s0), gpu.identify(one));
  EXPECT_NE(gpu.identify(s0), gpu.identify({1, 0}));
  EXPECT_TRUE(is_idle({1, 0}));
}

TEST_F(LegacyRule, ItWaitsForTheBlockingStreamsAndTheyForIt) {
  const StreamRef b1 = blocking();
  const StreamRef b2 = blocking();
  work(b1, 10);
  work(s0, 10);
  const EventHandle legacy = recorded(s0);
  work(b2, 10);
  gpu.advance(19);
  EXPECT_FALSE(is_done(legacy));
  gpu.advance(1);
  EXPECT_TRUE(is_done(legacy));
  EXPECT_FALSE(is_idle(b2));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(b2));
}

TEST_F(LegacyRule, BlockingStreamsAreNotOrderedAmongThemselves) {
  const StreamRef b1 = blocking();
  const StreamRef b2 = blocking();
  work(b1, 10);
  work(b2, 5);
  gpu.advance(5);
  EXPECT_TRUE(is_idle(b2));
  EXPECT_FALSE(is_idle(b1));
}

TEST_F(LegacyRule, OtherStreamsAndOtherDevicesAreNotOrderedWithIt) {
  const StreamRef s1 = stream();
  const StreamRef elsewhere = blocking(1);
  work(s1, 10);
  work(elsewhere, 10);
  EXPECT_TRUE(is_idle(s0));
  work(s0, 20);
  work(s1, 10);
  work(elsewhere, 10);
  gpu.advance(20);
  EXPECT_TRUE(is_idle(s1));
  EXPECT_TRUE(is_idle(elsewhere));
}

TEST_F(LegacyRule, ABlockingStreamOfAnotherContextHasAnotherLegacyStream) {
  const auto context = gpu.make_context(0);
  const StreamRef apart = *gpu.make_stream({.is_blocking = true, .context = *context});
  work(apart, 10);
  EXPECT_TRUE(is_idle(s0));
}

TEST_F(LegacyRule, AnEventOrAWaitOnTheLegacyStreamComesBetweenBlockingStreams) {
  const StreamRef b1 = blocking();
  const StreamRef b2 = blocking();
  const StreamRef s1 = stream();
  work(b1, 10);
  recorded(s0);
  EXPECT_FALSE(is_idle(b2));
  gpu.advance(10);
  work(b1, 10);
  order(s1, s0);
  EXPECT_FALSE(is_idle(b2));
  gpu.advance(10);
  work(s1, 10);
  order(s1, s0);
  EXPECT_FALSE(is_idle(b2));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(b2));
}

TEST_F(LegacyRule, ABlockingStreamThatWasDestroyedIsStillWaitedFor) {
  const StreamRef b1 = blocking();
  work(b1, 10);
  destroy(b1);
  EXPECT_FALSE(is_idle(s0));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(s0));
}

TEST_F(LegacyRule, EachThreadHasADefaultStreamWhichIsBlocking) {
  work(ptds, 10);
  const StreamNumber mine = gpu.identify(ptds);
  std::thread([&] {
    EXPECT_NE(gpu.identify(ptds), mine);
    EXPECT_TRUE(is_idle(ptds));
    work(ptds, 20);
  }).join();
  gpu.advance(10);
  EXPECT_TRUE(is_idle(ptds));
  EXPECT_FALSE(is_idle(s0));
  gpu.advance(10);
  EXPECT_TRUE(is_idle(s0));
  work(s0, 5);
  EXPECT_FALSE(is_idle(ptds));
  EXPECT_EQ(gpu.identify(ptds), mine);
  EXPECT_NE(gpu.identify({1, per_thread_stream_handle}), mine);
}

}  // namespace
}  // namespace cairn::simulator
