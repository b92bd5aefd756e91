// How a stream comes to its end, and what stands under its key then.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

using Keys = std::vector<StreamKey>;
constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t ptds = TestWorld::ptds;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;

std::vector<std::uint64_t> segment_streams(const TestWorld& world) {
  std::vector<std::uint64_t> streams;
  for (const SegmentInfo& segment : world.model.map(0)) streams.push_back(segment.stream);
  return streams;
}

TEST(Forget, ADefaultStreamOrOneNobodyKnowsIsNothingToForget) {
  TestWorld world;
  world.block(1_MiB, s0);
  world.driver.on_thread(3);
  world.block(1_MiB, ptds);
  for (const std::uint64_t handle : {s0, std::uint64_t{1}, ptds}) {
    EXPECT_EQ(world.model.forget_stream({0, handle}), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Forget, RetiresSegmentsUsesAndQueueUnderOneKey) {
  TestWorld world;
  const Address a = world.block(1_MiB, s1);
  const Address b = world.used_block(1_MiB, s0, {s1, s2});
  const Address c = world.used_block(1_MiB, s0, {s1});
  world.free(c);
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_ctx 0 s16", "event_create 0 ctx0", "event_record 0 s16 e2"}));
  EXPECT_EQ(segment_streams(world), (std::vector<std::uint64_t>{retired_stream(1).value, 0}));
  EXPECT_EQ(world.model.uses(b), (Keys{{0, {s2}}, {0, retired_stream(1)}}));

  world.driver.answer({0, Answer::not_done()});  // Of the queue the first is done, the fence not.
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_EQ(world.states(), "af af");
  world.free(a);
  EXPECT_EQ(world.allocate(1_MiB, s1).address, Address{std::uint64_t{3} << 40});  // Another stream.
}

TEST(Forget, ABlockFreedLaterSharesTheFence) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s0, {s1});
  const Address b = world.used_block(1_MiB, s0, {s1});
  const Address c = world.used_block(1_MiB, s2, {s1});
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.free(a), Calls{});
  EXPECT_EQ(world.free(b), Calls{});
  EXPECT_EQ(world.states(), "pp af");
  EXPECT_EQ(world.poll(), Calls{"event_query 0 e1"});
  EXPECT_EQ(world.states(), "f af");
  EXPECT_EQ(world.free(c), Calls{});  // The fence is done and gone: the use is over.
  EXPECT_EQ(world.states(), "f f");
}

TEST(Forget, TheFenceIsToldFromAnEventOfTheSameHandleLater) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s0, {s1});
  const Address b = world.used_block(1_MiB, s0, {s2});
  world.model.forget_stream({0, s1});
  world.poll();  // Event 1 goes back to its pool ...
  EXPECT_EQ(world.free(b), (Calls{"stream_ctx 0 s32", "event_record 0 s32 e1"}));  // ... and out.
  EXPECT_EQ(world.free(a), Calls{});
  EXPECT_EQ(world.states(), "fp");
}

TEST(Forget, AStreamIsKnownByItsQueueAloneButNotByABlockThatWaitsForOthers) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s0, {s1, s2});
  world.free(a);
  world.driver.answer({0, Answer::not_done()});
  world.poll();
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
  EXPECT_EQ(world.model.forget_stream({0, s2}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_ctx 0 s32", "event_record 0 s32 e1"}));
}

TEST(Forget, AStreamOfAnotherDeviceIsAnotherStream) {
  TestWorld world;
  const Address a = world.block(1_MiB, s1);
  world.use(a, s1, 1);
  world.cache({12_MiB}, s1);
  EXPECT_EQ(world.model.forget_stream({1, s1}), ErrorCode::none);
  EXPECT_EQ(segment_streams(world), (std::vector<std::uint64_t>{s1, s1}));
  EXPECT_EQ(world.model.uses(a), (Keys{{1, retired_stream(1)}}));
  world.driver.calls();
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(), (Calls{"event_sync 1 e1", "stream_sync 0 s16", "free 0 #2"}));
}

TEST(Forget, EachDeviceCountsItsOwnRetirements) {
  TestWorld world;
  world.block(1_MiB, s1);
  world.block(1_MiB, s2);
  const Address c = world.block(1_MiB, s0, 1);
  world.use(c, s2, 0);
  world.driver.calls();
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_ctx 0 s16", "event_create 0 ctx0", "event_record 0 s16 e1"}));
  EXPECT_EQ(world.model.forget_stream({0, s2}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),  // An event in each device's allocator.
            (Calls{"stream_ctx 0 s32", "event_create 0 ctx0", "event_record 0 s32 e2",
                   "stream_ctx 0 s32", "event_create 0 ctx0", "event_record 0 s32 e3"}));
  EXPECT_EQ(segment_streams(world),
            (std::vector<std::uint64_t>{retired_stream(1).value, retired_stream(2).value}));
  EXPECT_EQ(world.model.uses(c), (Keys{{0, retired_stream(1)}}));
}

TEST(Forget, OfADestroyedStreamIsFencedByItsContextInItsOwnQueue) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s0, {s1});
  world.driver.answer({ScriptedDriver::invalid_handle});
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_ctx 0 s16", "event_create 0 ctx0", "ctx_record 0 e1"}));
  EXPECT_EQ(world.free(a), Calls{});
  EXPECT_EQ(world.states(), "pf");
  EXPECT_EQ(world.poll(), Calls{"event_query 0 e1"});
  EXPECT_EQ(world.states(), "f");
}

TEST(Forget, WithoutContextEventsTheWorkIsOver) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s0, {s1});
  const int gone = ScriptedDriver::invalid_handle;
  world.driver.answer({gone, 0, ScriptedDriver::not_supported});
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_ctx 0 s16", "event_create 0 ctx0", "ctx_record 0 e1", "device_sync 0"}));
  EXPECT_EQ(world.free(a), Calls{});
  EXPECT_EQ(world.states(), "f");
}

TEST(Forget, WhatWasInItsQueueBeforeIsNoFence) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s0, {s1});
  const Address b = world.used_block(512_KiB, s0, {s1});
  world.free(a);
  world.driver.answer({ScriptedDriver::invalid_handle, 0, ScriptedDriver::not_supported});
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.free(b), Calls{});
  EXPECT_EQ(world.states(), "pf");
  EXPECT_EQ(world.poll(), Calls{"event_query 0 e1"});
}

TEST(Forget, AFailureLeavesTheStreamKnownHereAndInLaterDevices) {
  TestWorld world;
  world.block(1_MiB, s1);
  const Address b = world.block(1_MiB, s0, 1);
  world.use(b, s1, 0);
  world.driver.answer({0, 0, 0, 0, 0, ScriptedDriver::unknown});
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls().size(), 6U);
  EXPECT_EQ(segment_streams(world), (std::vector<std::uint64_t>{retired_stream(1).value}));
  EXPECT_EQ(world.model.uses(b), (Keys{{0, {s1}}}));
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_ctx 0 s16", "event_record 0 s16 e2"}));
  EXPECT_EQ(world.model.uses(b), (Keys{{0, retired_stream(1)}}));
}

TEST(Forget, MemoryOfARetiredStreamGoesBackBehindItsEvents) {
  TestWorld world;
  const Address a = world.used_block(512_B, s0, {s1});
  world.free(world.block(12_MiB, s1));
  world.free(world.block(14_MiB, s1));
  world.free(a);
  world.model.forget_stream({0, s1});
  world.driver.calls();
  Options limited;
  limited.garbage_collection_threshold = 0.001;
  EXPECT_EQ(world.model.reconfigure(limited), ErrorCode::none);
  world.model.set_memory_fraction(0, 0.5);
  world.driver.answer({Answer::not_done()});
  EXPECT_EQ(world.allocate(12_MiB, s2).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "event_sync 0 e1", "event_sync 0 e2",
                                         "free 0 #2", "free 0 #3", "malloc 0 12MiB"}));
}

}  // namespace
}  // namespace cairn::model
