// Limits, waits before memory goes back, what a failure tells, and settings that change.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t ptds = TestWorld::ptds;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr int oom = ScriptedDriver::out_of_memory;
constexpr int fault = ScriptedDriver::unknown;
constexpr int gone = ScriptedDriver::invalid_handle;
const Answer not_done = Answer::not_done();
constexpr Bytes total = 8_GiB;

double fraction_for(Bytes limit) {
  return static_cast<double>(limit.count) / static_cast<double>(total.count);
}

TEST(Limit, IsAskedBeforeTheDriverIs) {
  TestWorld world;
  EXPECT_EQ(world.model.set_memory_fraction(0, fraction_for(24_MiB)), ErrorCode::none);
  world.block(12_MiB);
  const Address b = world.block(12_MiB);  // To the byte.
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.driver.calls(), Calls{"mem_info 0"});
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
  EXPECT_EQ(world.stats().num_ooms, 1);
  world.free(b);
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s1", "free 0 #2", "malloc 0 2MiB"}));
}

TEST(Limit, IsOfOneDeviceAndOneIsNone) {
  TestWorld world;
  EXPECT_EQ(world.model.set_memory_fraction(1, 0.0), ErrorCode::none);
  EXPECT_EQ(world.allocate(512_B, s0, 1).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.allocate(512_B, s0, 0).code, ErrorCode::none);
  EXPECT_EQ(world.model.set_memory_fraction(1, 1.0), ErrorCode::none);
  EXPECT_EQ(world.allocate(16_GiB, s0, 1).code, ErrorCode::none);  // What the driver allows.
}

TEST(Limit, OtherNumbersAreNoFractions) {
  TestWorld world;
  for (const double bad : {-0.001, 1.001, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(world.model.set_memory_fraction(0, bad), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(world.model.set_memory_fraction(2, 0.5), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.set_memory_fraction(-1, 0.5), ErrorCode::invalid_argument);
  EXPECT_EQ(world.allocate(8_GiB).code, ErrorCode::none);
}

TEST(Limit, IsRoundedToTheNearestByte) {
  TestWorld world;
  const double one = 1.0 / static_cast<double>(total.count);
  world.model.set_memory_fraction(0, fraction_for(2_MiB) - one * 0.4);
  EXPECT_EQ(world.allocate(512_B).code, ErrorCode::none);
  world.model.set_memory_fraction(0, fraction_for(4_MiB) - one * 0.6);
  EXPECT_EQ(world.allocate(1_MiB).code, ErrorCode::none);
  const Outcome outcome = world.allocate(1_MiB);
  EXPECT_EQ(outcome.code, ErrorCode::out_of_memory);
  EXPECT_EQ(outcome.memory.value_or(MemoryReport{}).limit_bytes, (4_MiB).count - 1);
}

TEST(Rejection, ComesAtOnceAndCountsByItself) {
  Options options;
  options.throw_on_cudamalloc_oom = true;
  TestWorld world(options);  // The border is all memory of the device.
  world.cache({12_MiB});
  const Outcome outcome = world.allocate(8_GiB - 10_MiB);
  EXPECT_EQ(outcome.code, ErrorCode::rejected);
  EXPECT_EQ(world.driver.calls(), Calls{});  // The cache stays.
  EXPECT_EQ(world.stats().num_oom_rejections, 1);
  EXPECT_EQ(world.stats().num_ooms, 0);
  EXPECT_EQ(world.stats().num_alloc_retries, 0);
  EXPECT_EQ(world.stats().num_sync_all_streams, 0);
  world.model.reset_accumulated_stats();
  EXPECT_EQ(world.stats().num_oom_rejections, 0);
  EXPECT_EQ(world.allocate(8_GiB - 12_MiB).code, ErrorCode::none);
}

TEST(Rejection, TheLimitIsLookedAtBefore) {
  Options options;
  options.throw_on_cudamalloc_oom = true;
  options.per_process_memory_fraction = fraction_for(32_MiB);
  TestWorld world(options);
  EXPECT_EQ(world.allocate(34_MiB).code, ErrorCode::out_of_memory);
  world.model.set_memory_fraction(0, 1.0);  // Moves the limit alone.
  EXPECT_EQ(world.allocate(34_MiB).code, ErrorCode::rejected);
  options.per_process_memory_fraction = fraction_for(34_MiB);  // Moves the border alone.
  EXPECT_EQ(world.model.reconfigure(options), ErrorCode::none);
  EXPECT_EQ(world.allocate(34_MiB).code, ErrorCode::none);
}

TEST(Rejection, CanComeFromALaterRungToo) {
  Options options;
  options.throw_on_cudamalloc_oom = true;
  options.per_process_memory_fraction = fraction_for(32_MiB);
  options.max_split_size_bytes = (20_MiB).count;
  TestWorld world(options);
  world.model.set_memory_fraction(0, fraction_for(60_MiB));
  options.per_process_memory_fraction = fraction_for(100_MiB);
  world.model.reconfigure(options);
  world.cache({40_MiB});
  world.block(18_MiB);
  options.per_process_memory_fraction = fraction_for(32_MiB);
  world.model.reconfigure(options);
  // 58 + 22 is above the limit, 18 + 22 only above the border.
  EXPECT_EQ(world.allocate(22_MiB).code, ErrorCode::none);  // A hit: nothing is asked.
  EXPECT_EQ(world.allocate(62_MiB).code, ErrorCode::out_of_memory);
  world.model.free(Address{std::uint64_t{1} << 40});
  world.driver.calls();
  EXPECT_EQ(world.allocate(22_MiB, s1).code, ErrorCode::rejected);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s1", "free 0 #1"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 2);
}

TEST(Report, OfAFailureAddsUp) {
  TestWorld world;
  world.model.set_memory_fraction(0, 0.5);
  world.block(1000_B, s1);                        // 1 KiB of 2 MiB.
  world.free(world.used_block(3_MiB, s1, {s2}));  // 3 MiB of 20 MiB.
  world.driver.answer({not_done, oom, fault});    // The wait fails: no report of that.
  EXPECT_FALSE(world.allocate(100_MiB).memory.has_value());
  world.driver.answer({not_done, oom, 0, 0, 0, oom, Answer::number(777)});
  const Outcome outcome = world.allocate(3_MiB, s2);
  ASSERT_EQ(outcome.code, ErrorCode::out_of_memory);
  ASSERT_TRUE(outcome.memory.has_value());
  const MemoryReport& report = *outcome.memory;
  EXPECT_EQ(report.device, 0);
  EXPECT_EQ(report.requested_bytes, (3_MiB).count);
  EXPECT_EQ(report.tried_bytes, (20_MiB).count);
  EXPECT_EQ(report.total_bytes, (8_GiB).count);
  EXPECT_EQ(report.free_bytes, 777U);
  EXPECT_EQ(report.limit_bytes, (4_GiB).count);
  EXPECT_EQ(report.allocated_bytes, 1024U);
  EXPECT_EQ(report.private_bytes, 0U);
  EXPECT_EQ(report.pending_bytes, 0U);
  EXPECT_EQ(report.reserved_bytes(), (2_MiB).count);
}

TEST(Report, OfARejectionKnowsTheTotalAloneAndWhatIsPending) {
  Options options;
  options.throw_on_cudamalloc_oom = true;
  TestWorld world(options);
  world.block(1_MiB, s0, 1);
  world.driver.answer({not_done});
  const Address a = world.block(3_MiB, s1, 1);
  world.use(a, s2, 1);
  world.driver.answer({});
  world.free(a);
  world.driver.answer({not_done});
  const Outcome outcome = world.allocate(9_GiB - 1_B, s0, 1);
  ASSERT_EQ(outcome.code, ErrorCode::rejected);
  ASSERT_TRUE(outcome.memory.has_value());
  const MemoryReport& report = *outcome.memory;
  EXPECT_EQ(report.device, 1);
  EXPECT_EQ(report.requested_bytes, (9_GiB).count - 1);
  EXPECT_EQ(report.tried_bytes, (9_GiB).count);
  EXPECT_EQ(report.total_bytes, (8_GiB).count);
  EXPECT_EQ(report.free_bytes, std::nullopt);
  EXPECT_EQ(report.limit_bytes, std::nullopt);
  EXPECT_EQ(report.allocated_bytes, (1_MiB).count);
  EXPECT_EQ(report.pending_bytes, (3_MiB).count);
  EXPECT_EQ(report.reserved_bytes(), (22_MiB).count);
}

TEST(Report, WithoutAnAnswerOfTheDriverItsFiguresAreMissing) {
  TestWorld world;
  world.driver.answer({oom, oom, fault});
  const Outcome outcome = world.allocate(512_B);
  EXPECT_EQ(outcome.code, ErrorCode::out_of_memory);
  ASSERT_TRUE(outcome.memory.has_value());
  EXPECT_EQ(outcome.memory->total_bytes, std::nullopt);
  EXPECT_EQ(outcome.memory->free_bytes, std::nullopt);
  EXPECT_FALSE(world.allocate(1_GiB * (1 << 30)).memory.has_value());
}

TEST(WaitBeforeRelease, OnceForAStreamUntilABlockOfItIsFreedAgain) {
  TestWorld world;
  const Address small = world.block(512_B, s1);
  world.cache({12_MiB, 14_MiB}, s1);
  world.driver.answer({0, 0, fault});
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s16", "free 0 #2", "free 0 #3"}));
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(), Calls{"free 0 #3"});
  world.cache({12_MiB}, s1);
  world.free(small);  // Of the other pool.
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s16", "free 0 #4", "free 0 #1"}));
}

TEST(WaitBeforeRelease, MemoryThatNobodyUsedNeedsNone) {
  TestWorld world;
  world.model.add_initial_segment(
      {0, {Address{1 << 30}, 12_MiB}, PoolKind::large, {s1}, {{12_MiB, false}}});
  world.driver.next_address(Address{(1 << 30) + (13 << 20)});
  EXPECT_EQ(world.model.allocate({0, s1, 14_MiB, 2_MiB}).code, ErrorCode::unsupported);
  world.driver.calls();
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"free 0 #0", "free 0 #1"}));
}

TEST(WaitBeforeRelease, ABlockThatWasPendingCountsFromWhenItIsFree) {
  TestWorld world;
  const Address a = world.block(12_MiB, s1);
  world.cache({14_MiB}, s1);
  world.use(a, s2);
  world.free(a);
  world.driver.answer({fault});
  world.model.empty_cache();
  world.driver.calls();
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(),
            (Calls{"event_sync 0 e1", "stream_sync 0 s16", "free 0 #1", "free 0 #2"}));
}

TEST(WaitBeforeRelease, GoesByTheReachOfTheStream) {
  TestWorld world;
  world.driver.on_thread(3);
  world.cache({12_MiB}, ptds);
  world.driver.on_thread(4);
  world.cache({14_MiB}, ptds);
  world.cache({16_MiB}, s1);
  world.driver.answer({gone});
  world.model.empty_cache();
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s16", "device_sync 0", "free 0 #3", "device_sync 0", "free 0 #1",
                   "stream_sync 0 s2", "free 0 #2"}));
}

TEST(WaitBeforeRelease, AFailureKeepsTheSegment) {
  TestWorld world;
  world.cache({12_MiB}, s1);
  const std::vector<std::vector<Answer>> scripts{{fault}, {gone, gone}};
  for (const std::vector<Answer>& script : scripts) {
    world.driver.answer(script);
    EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);
    EXPECT_EQ(world.driver.calls().size(), script.size());
    EXPECT_EQ(world.states(), "f");
  }
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s16", "free 0 #1"}));
}

TEST(Segments, ThatCannotBeAreACudaErrorAndLeftAlone) {
  TestWorld world;
  const Address a = world.block(12_MiB);
  for (const Address bad : {a + 1_GiB + 256_B, a, a + 2_MiB, Address{a.value - (2 << 20)}}) {
    world.driver.answer({Answer::number(bad.value)});
    EXPECT_EQ(world.allocate(12_MiB).code, ErrorCode::cuda_error);
  }
  world.driver.answer({Answer::number(0)});
  EXPECT_EQ(world.allocate(12_MiB).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.stats().segment.all.current, 1);
  EXPECT_EQ(world.stats().num_device_alloc, 1);
}

TEST(Reconfigure, ChangesWhatMayChangeAndRefusesTheRestWhole) {
  TestWorld world;
  EXPECT_EQ(world.model.reconfigure({}), ErrorCode::invalid_argument);
  Options wanted;
  wanted.large_segment_size_bytes = (64_MiB).count;
  wanted.best_fit_tie = BestFitTie::address;
  EXPECT_EQ(world.model.reconfigure(wanted), ErrorCode::unsupported);
  EXPECT_EQ(world.model.options(), Options{});
  wanted.best_fit_tie = BestFitTie::segment;
  wanted.release_lock_on_cudamalloc = true;
  wanted.roundup_power2_divisions.fill(4);
  wanted.max_non_split_rounding_bytes = (64_MiB).count;
  EXPECT_EQ(world.model.reconfigure(wanted), ErrorCode::none);
  EXPECT_EQ(world.model.options(), wanted);
  world.allocate(5_MiB + 1_B, s0, 1);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 1 64MiB"});
  EXPECT_EQ(world.stats(1).allocated_bytes.all.current, std::int64_t{6} << 20);
}

TEST(Reconfigure, CountsOversizeAnew) {
  TestWorld world;
  world.block(30_MiB);
  world.block(40_MiB);
  world.free(world.used_block(50_MiB, s0, {s1}));
  world.cache({60_MiB}, s2);
  EXPECT_EQ(world.stats().oversize_segments, (Stat{}));
  Options options;
  options.max_split_size_bytes = (40_MiB).count;
  world.model.reconfigure(options);
  EXPECT_EQ(world.stats().oversize_allocations, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(world.stats().oversize_segments, (Stat{3, 3, 3, 0}));
  EXPECT_EQ(world.stats().max_split_size_bytes, (40_MiB).count);
  options.max_split_size_bytes = (55_MiB).count;
  world.model.reconfigure(options);
  EXPECT_EQ(world.stats().oversize_allocations, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(world.stats().oversize_segments, (Stat{1, 3, 3, 2}));
}

}  // namespace
}  // namespace cairn::model
