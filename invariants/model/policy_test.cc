// The rows of the table of deviations (src/heap/README.md) with pytorch_defects:True, by their ids.
// What Cairn does instead is in the tests beside this one.
#include <gtest/gtest.h>

#include <cstdint>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t ptds = TestWorld::ptds;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr int oom = ScriptedDriver::out_of_memory;
constexpr int gone = ScriptedDriver::invalid_handle;
const Answer not_done = Answer::not_done();

Options with_defects() {
  Options options;
  options.pytorch_defects = true;
  return options;
}

TEST(Defects, V3_WhatBecameFreeByWaitingIsNotSearched) {
  TestWorld world(with_defects());
  const Address a = world.used_block(8_MiB, s0, {s1});
  world.block(8_MiB, s0);
  world.block(3_MiB, s0);
  world.free(a);
  world.driver.answer({not_done, oom, 0, oom});
  EXPECT_EQ(world.allocate(8_MiB).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "malloc 0 20MiB", "event_sync 0 e1",
                                         "malloc 0 20MiB", "mem_info 0"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
  EXPECT_EQ(world.allocate(8_MiB).address, a);
}

// Without a part of a segment that goes back, V4 shows in nothing but V3: what waiting made free, a
// whole segment too, is not found after the release either.
TEST(Defects, V4_NothingIsSearchedAfterTheReleaseEither) {
  TestWorld world(with_defects());
  const Address a = world.used_block(20_MiB, s0, {s1});
  world.free(a);
  world.driver.answer({not_done, oom});
  EXPECT_NE(world.allocate(20_MiB).address, a);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "malloc 0 20MiB", "event_sync 0 e1",
                                         "free 0 #1", "malloc 0 20MiB"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
}

TEST(Defects, V5_MemoryGoesBackWithoutAWaitForItsStream) {
  TestWorld world(with_defects());
  world.cache({20_MiB, 22_MiB}, s1);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"free 0 #1", "free 0 #2"}));
}

TEST(Defects, V6_AUseByAStreamOfTheSameHandleIsLostWhateverItsDevice) {
  TestWorld world(with_defects());
  for (const std::uint64_t handle : {s0, s1, ptds}) {
    const Address a = world.block(20_MiB, handle);
    world.use(a, handle, 1);
    EXPECT_TRUE(world.model.uses(a).empty());
    EXPECT_EQ(world.model.free_on(a, {1, handle}), ErrorCode::none);
    EXPECT_EQ(world.driver.calls(), Calls{});
  }
  EXPECT_EQ(world.states(), "f f f");
}

TEST(Defects, V6_UsesAmongThemselvesAreToldApartByTheirDeviceToo) {
  TestWorld world(with_defects());
  const Address a = world.block(20_MiB, s0);
  world.use(a, s1, 0);
  world.use(a, s1, 1);
  EXPECT_EQ(world.model.uses(a).size(), 2U);
}

TEST(Defects, V7_AStreamIsItsHandleForEver) {
  TestWorld world(with_defects());
  const Address a = world.block(20_MiB, s1);
  world.free(a);
  EXPECT_EQ(world.model.forget_stream({0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
  EXPECT_EQ(world.allocate(20_MiB, s1).address, a);
  EXPECT_EQ(world.model.forget_stream({0, s0}), ErrorCode::invalid_argument);  // The door.
}

TEST(Defects, V7_ThePerThreadHandleIsOneStreamInAllThreads) {
  TestWorld world(with_defects());
  world.driver.on_thread(1);
  const Address a = world.block(20_MiB, ptds);
  world.driver.on_thread(2);
  world.use(a, ptds);
  EXPECT_TRUE(world.model.uses(a).empty());
  EXPECT_EQ(world.model.map(0).front().stream, ptds);
  EXPECT_EQ(world.model.free(a, 20_MiB, ptds), ErrorCode::none);
  EXPECT_EQ(world.allocate(20_MiB, ptds).address, a);
}

TEST(Defects, V8_ANewMaxSplitSizeShowsInNothingButWhatComesAndGoes) {
  Options options = with_defects();
  options.max_split_size_bytes = (40_MiB).count;
  TestWorld world(options);
  const Address a = world.block(30_MiB);
  const Address b = world.block(50_MiB);
  EXPECT_EQ(world.stats().oversize_allocations.current, 1);
  options.max_split_size_bytes = (25_MiB).count;
  EXPECT_EQ(world.model.reconfigure(options), ErrorCode::none);
  EXPECT_EQ(world.stats().max_split_size_bytes, (40_MiB).count);
  EXPECT_EQ(world.stats().oversize_allocations.current, 1);
  world.free(a);
  world.free(b);
  EXPECT_EQ(world.stats().oversize_allocations.current, -1);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.stats().oversize_segments.current, -1);
  world.block(30_MiB);  // Oversize by now, and not by the size that the statistics show.
  EXPECT_EQ(world.stats().oversize_allocations.current, 0);
  EXPECT_EQ(world.stats().oversize_segments.current, 0);
}

TEST(Defects, V9_AUseThatNoHandleNamesIsAnError) {
  TestWorld world(with_defects());
  const Address a = world.used_block(20_MiB, s0, {s1, s2});
  world.driver.answer({0, 0, 0, gone});
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_ctx 0 s16", "event_create 0 ctx0",
                                         "event_record 0 s16 e1", "stream_ctx 0 s32"}));
  EXPECT_EQ(world.states(), "a");
  world.driver.answer({0, 0, 0, 0, gone});
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  world.driver.calls();
  EXPECT_EQ(world.free(a), (Calls{"stream_ctx 0 s16", "event_record 0 s16 e2", "stream_ctx 0 s32",
                                  "event_record 0 s32 e1"}));  // The first taken went back first.
}

TEST(Defects, V9_OfAnotherThreadsOwnStreamItIsThatOfTheCallingThread) {
  TestWorld world(with_defects());
  world.driver.on_thread(1);
  const Address a = world.used_block(20_MiB, s0, {ptds});
  world.driver.on_thread(2);
  EXPECT_EQ(world.free(a), (Calls{"event_create 0 ctx0", "event_record 0 s2 e1"}));
}

TEST(Defects, V10_AUseOfWhatIsNotLiveDoesNothing) {
  TestWorld world(with_defects());
  const Address a = world.block(20_MiB);
  world.use(a + 512_B, s1);
  world.free(a);
  world.use(a, s1);
  EXPECT_EQ(world.model.record_stream(a, {2, s1}), ErrorCode::invalid_argument);  // The door.
  EXPECT_EQ(world.model.free_on(a, {0, s1}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

}  // namespace
}  // namespace cairn::model
