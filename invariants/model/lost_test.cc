// What is left of a device after a failure that nothing can follow.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "invariants/model/cuda_codes.h"
#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

using Keys = std::vector<StreamKey>;
constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr std::uint64_t s3 = TestWorld::s3;
constexpr int lost = ScriptedDriver::illegal_address;
constexpr int oom = ScriptedDriver::out_of_memory;
const Answer not_done = Answer::not_done();

// Loses device 0.
void lose(TestWorld& world) {
  world.driver.answer({lost});
  EXPECT_EQ(world.allocate(100_MiB).code, ErrorCode::cuda_error);
  world.driver.calls();
}

TEST(Lost, ByTheseCodesAndNoOthers) {
  const std::vector<int> sticky{201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716,
                                717, 718, 719, 721, 805, 806, 807, 808, 809, 810, 911};
  std::vector<int> found;
  for (int code = 0; code < 1100; ++code) {
    if (is_sticky_code(code)) found.push_back(code);
  }
  EXPECT_EQ(found, sticky);
}

TEST(Lost, NothingIsAskedOfTheDriverAnyMore) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s0, {s1, s2});
  world.free(world.used_block(512_KiB, s0, {s3}));
  lose(world);
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.allocate(0_B).code, ErrorCode::none);  // The door comes first.
  EXPECT_EQ(world.model.process_events(0), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);
  EXPECT_EQ(world.stats().num_sync_all_streams, 0);
  EXPECT_EQ(world.model.record_stream(a, {0, s3}), ErrorCode::none);
  EXPECT_EQ(world.model.uses(a).size(), 3U);
  EXPECT_EQ(world.model.forget_stream({0, s2}), ErrorCode::none);
  EXPECT_EQ(world.model.uses(a), (Keys{{0, {s1}}, {0, {s3}}, {0, retired_stream(1)}}));
  EXPECT_EQ(world.model.free_on(a, {0, s1}), ErrorCode::none);  // Free at once.
  EXPECT_EQ(world.states(), "fpf");
  EXPECT_EQ(world.model.set_memory_fraction(0, 0.5), ErrorCode::none);
  EXPECT_EQ(world.model.reconfigure(Options{}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Lost, IsOneDeviceAlone) {
  TestWorld world;
  const Address b = world.block(12_MiB, s0, 1);
  lose(world);
  EXPECT_EQ(world.allocate(512_B, s0, 1).code, ErrorCode::none);
  world.use(b, s1, 1);
  EXPECT_EQ(world.model.free(b), ErrorCode::none);
  EXPECT_EQ(world.model.process_events(1), ErrorCode::none);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);  // Device 0 comes first.
  EXPECT_EQ(world.stats(1).segment.all.current, 2);
}

TEST(Lost, ByAQueryEndsTheLookAndTheRequest) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s0, {s1});
  const Address b = world.used_block(512_KiB, s0, {s2});
  world.free(a);
  world.free(b);
  world.driver.answer({lost});
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), Calls{"event_query 0 e1"});
  EXPECT_EQ(world.states(), "ppf");
}

TEST(Lost, ByTheFiguresForAReportEndsTheRequestAsACudaError) {
  TestWorld world;
  world.driver.answer({oom, oom, lost});
  const Outcome outcome = world.allocate(512_B);
  EXPECT_EQ(outcome.code, ErrorCode::cuda_error);
  EXPECT_FALSE(outcome.memory.has_value());
  EXPECT_EQ(world.stats().num_ooms, 0);
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::cuda_error);
}

TEST(Lost, ByAFenceTheFreeFailsAndTheNextIsBookkeeping) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s0, {s1, s2});
  world.driver.answer({0, 0, lost});
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  EXPECT_EQ(world.states(), "af");
  EXPECT_EQ(world.driver.calls().size(), 3U);
  EXPECT_EQ(world.free(a), Calls{});
  EXPECT_EQ(world.states(), "f");
}

TEST(Lost, ByAWaitOrAFreeOfMemory) {
  for (const std::vector<Answer>& script : {std::vector<Answer>{lost}, {0, lost}, {0, 0, lost}}) {
    TestWorld world;
    world.free(world.used_block(12_MiB, s1, {s2}));
    world.driver.answer(script);
    EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);
    EXPECT_EQ(world.driver.calls().size(), script.size());
    EXPECT_EQ(world.model.process_events(0), ErrorCode::cuda_error);
    EXPECT_EQ(world.model.process_events(1), ErrorCode::none);
  }
}

TEST(Lost, IsTheAllocatorThatMadeTheCallWhateverDeviceTheStreamIsOf) {
  TestWorld world;
  const Address a = world.block(1_MiB, s0);
  world.use(a, s1, 1);
  world.driver.answer({lost});
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.process_events(0), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.process_events(1), ErrorCode::none);
}

TEST(Lost, ByTheQuestionForAnIdAndThenStreamsAreWhatTheyWere) {
  Options options;
  options.stream_identity = StreamIdentity::id;
  TestWorld world(options);
  world.driver.answer({Answer::number(501)});
  const Address a = world.block(1_MiB, s1);
  world.driver.answer({lost});
  EXPECT_EQ(world.model.record_stream(a, {0, s2}), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.process_events(0), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.process_events(1), ErrorCode::none);
  world.driver.calls();
  EXPECT_EQ(world.model.record_stream(a, {0, s2}), ErrorCode::cuda_error);  // Never heard of.
  EXPECT_EQ(world.model.free(a, 1_MiB, s1), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

}  // namespace
}  // namespace cairn::model
