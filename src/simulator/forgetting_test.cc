// That the simulated GPU forgets what cannot matter any more, and nothing else.
#include <gtest/gtest.h>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr auto unordered = ViolationKind::unordered_reuse;
constexpr StreamRef ptds{0, per_thread_stream_handle};

class ForgettingTest : public ReuseTest {
 protected:
  // So many streams come and go that all is forgotten that can be.
  void forget() {
    for (int i = 0; i < 5000; ++i) destroy(stream());
  }
};

TEST_F(ForgettingTest, ThousandsOfStreamsLaterARaceIsStillSeen) {
  live(s1);
  destroy(s1);
  forget();
  gpu.advance(100);
  reuse(s2);
  expect_violation(unordered, "on stream 1");
}

TEST_F(ForgettingTest, ADestroyedStreamOrdersThoseThatWaitedForTheDevice) {
  live(s1);
  order(s1, s3);
  destroy(s1);
  destroy(s3);
  forget();
  ASSERT_TRUE(gpu.device_sync(0));
  reuse(s2);
  expect_innocence();
}

TEST_F(ForgettingTest, ADestroyedBlockingStreamStillStandsBeforeTheLegacyStream) {
  const StreamRef b1 = blocking();
  live(b1);
  destroy(b1);
  forget();
  reuse(s0);
  expect_innocence();
  EXPECT_FALSE(is_idle(s0));
}

TEST_F(ForgettingTest, ADefaultStreamOfAThreadKeepsWhatItWaitedFor) {
  live(s1);
  order(s1, ptds);
  gpu.advance(10);
  forget();
  reuse(ptds);
  expect_innocence();
}

TEST_F(ForgettingTest, ADefaultStreamThatWasForgottenRacesAnew) {
  live(ptds);
  ASSERT_TRUE(gpu.synchronize(ptds));
  forget();
  live(ptds);
  reuse(s1);
  expect_violation(unordered, "the default stream of thread");
}

TEST_F(ForgettingTest, TheOwnerOfABlockIsRememberedThoughItWasDestroyed) {
  hand_out(block, s1);
  write(s2, block);
  order(s2, s1);
  destroy(s1);
  forget();
  take_back(block);
  reuse(s3);
  expect_violation(unordered, "on stream 2");
}

TEST_F(ForgettingTest, AStreamThatDidNothingYetIsNotForgotten) {
  forget();
  live(s1);
  reuse(s2);
  expect_violation(unordered, "on stream 1");
}

TEST_F(ForgettingTest, ADestroyedBlockingStreamIsAwaitedWithItsDevice) {
  const StreamRef b1 = blocking();
  live(b1);
  destroy(b1);
  forget();
  ASSERT_TRUE(gpu.device_sync(0));
  reuse(s1);
  expect_innocence();
}

TEST_F(ForgettingTest, ADestroyedStreamOfAnotherContextIsNot) {
  const auto context = gpu.make_context(0);
  const StreamRef apart = *gpu.make_stream({.context = *context});
  work(apart, 10);
  destroy(apart);
  forget();
  const EventHandle all = event();
  ASSERT_TRUE(gpu.ctx_record(0, all));
  EXPECT_TRUE(is_done(all));
}

TEST_F(ForgettingTest, WhatTheHostSawOfAForgottenStreamStaysSeen) {
  live(s2);
  work(ptds, 10);
  order(ptds, s1);
  hand_out(block, s1);
  ASSERT_TRUE(gpu.synchronize(ptds));
  forget();
  work(ptds, 10);
  write(s3, block);  // Comes after the work that stood on s1, since that is done.
  expect_violation(unordered, "on stream 2");
}

TEST_F(ForgettingTest, WhatTheHostSawOfADestroyedStreamStaysSeen) {
  const StreamRef gone = stream();
  live(s2);
  work(gone, 10);
  order(gone, s1);
  hand_out(block, s1);
  ASSERT_TRUE(gpu.synchronize(gone));
  destroy(gone);
  forget();
  write(s3, block);
  expect_violation(unordered, "on stream 2");
}

TEST_F(ForgettingTest, ManyOperationsTakeNoTimeThatGrows) {
  for (unsigned i = 0; i < 100'000; ++i) {
    const Span part{home.begin + 512_B * (i * 7919u % 2048u), 512_B * (1 + i % 64)};
    const StreamRef mine = stream();
    hand_out(part, mine);
    write(mine, part, i % 5);
    take_back(part);
    const EventHandle fence = recorded(mine);
    destroy(mine);
    ASSERT_TRUE(gpu.event_sync(0, fence));
    ASSERT_TRUE(gpu.event_destroy(0, fence));
  }
  expect_innocence();
}

}  // namespace
}  // namespace cairn::simulator
