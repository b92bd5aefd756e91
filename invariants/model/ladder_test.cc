// The rungs between a driver that has no memory and the failure of the request.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "invariants/model/model.h"
#include "invariants/model/scripted_driver.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = 0;  // The driver is told 1.
constexpr std::uint64_t s1 = 16;
constexpr std::uint64_t s2 = 32;
constexpr int oom = ScriptedDriver::out_of_memory;
constexpr int fault = ScriptedDriver::unknown;

struct World {
  explicit World(const Options& options = {}) : model(options, {8_GiB, 8_GiB}, driver) {}

  Outcome allocate(Bytes size, std::uint64_t stream = s0, DeviceIndex device = 0) {
    return model.allocate({device, stream, size, 512_B});
  }
  // Segments #1, #2 ... of these sizes, all free.
  void cache(const std::vector<Bytes>& sizes, std::uint64_t stream = s0, DeviceIndex device = 0) {
    std::vector<Address> given;
    given.reserve(sizes.size());
    for (const Bytes size : sizes) given.push_back(allocate(size, stream, device).address);
    for (const Address address : given) EXPECT_EQ(model.free(address), ErrorCode::none);
    driver.calls();
  }
  const DeviceStats stats(DeviceIndex device = 0) { return model.stats(device); }
  ~World() {
    EXPECT_TRUE(statistics_recount(model, 0));
    EXPECT_TRUE(statistics_recount(model, 1));
  }

  ScriptedDriver driver;
  Model model;
};

Options max_split(Bytes size) {
  Options options;
  options.max_split_size_bytes = size.count;
  return options;
}

TEST(Ladder, WithNothingCachedTheDriverIsAskedTwiceAndThenForItsFigures) {
  World world;
  world.driver.answer({oom, oom});
  EXPECT_EQ(world.allocate(3_MiB).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.driver.calls(), (Calls{"malloc 0 20MiB", "malloc 0 20MiB", "mem_info 0"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
  EXPECT_EQ(world.stats().num_sync_all_streams, 1);
  EXPECT_EQ(world.stats().num_ooms, 1);
  EXPECT_EQ(world.stats().num_device_alloc, 0);
  EXPECT_TRUE(world.model.map(0).empty());
}

TEST(Ladder, FullReleaseGivesBackAllWholeSegmentsAndAsksAgain) {
  World world;
  world.cache({512_B, 12_MiB, 24_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(30_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s1", "free 0 #2",
                                         "free 0 #3", "free 0 #1", "malloc 0 30MiB"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
  EXPECT_EQ(world.stats().num_ooms, 0);
  EXPECT_EQ(world.stats().num_device_free, 3);
  EXPECT_EQ(world.stats().num_device_alloc, 4);
  EXPECT_EQ(world.stats().segment.all.current, 1);
  EXPECT_EQ(world.stats().segment.small_pool.freed, 1);
  EXPECT_EQ(world.stats().reserved_bytes.large_pool.freed, (36_MiB).count);
}

TEST(Ladder, FullReleaseLeavesLiveAndSplitSegmentsAndOtherDevices) {
  World world;
  world.cache({12_MiB}, s0, 1);                     // #1
  world.allocate(12_MiB);                           // #2
  const Address a = world.allocate(2_MiB).address;  // #3
  world.allocate(2_MiB);
  world.model.free(a);
  world.driver.calls();
  world.driver.answer({oom, oom});
  EXPECT_EQ(world.allocate(30_MiB).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.driver.calls(), (Calls{"malloc 0 30MiB", "malloc 0 30MiB", "mem_info 0"}));
  EXPECT_EQ(world.stats(1).segment.all.current, 1);
}

TEST(Ladder, TheOrderOfReleaseIsStreamSizeAgeAddress) {
  for (const BestFitTie tie : {BestFitTie::segment, BestFitTie::address}) {
    Options options;
    options.best_fit_tie = tie;
    World world(options);
    world.cache({12_MiB}, s2);                                   // #1
    world.driver.next_address(Address{std::uint64_t{1} << 50});  // The oldest of its equals lies
    world.cache({14_MiB, 14_MiB, 12_MiB}, s1);                   // highest: #2. Then #3, #4.
    EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
    const bool oldest_first = tie == BestFitTie::segment;
    EXPECT_EQ(world.driver.calls(),
              (Calls{"stream_sync 0 s16", "free 0 #4", oldest_first ? "free 0 #2" : "free 0 #3",
                     oldest_first ? "free 0 #3" : "free 0 #2", "stream_sync 0 s32", "free 0 #1"}));
  }
}

TEST(Ladder, TheOversizeReleaseTakesTheBestFitAlone) {
  World world(max_split(32_MiB));
  world.cache({128_MiB, 64_MiB, 96_MiB, 20_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(40_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"malloc 0 40MiB", "stream_sync 0 s1", "free 0 #2", "malloc 0 40MiB"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 0);
  EXPECT_EQ(world.stats().oversize_segments.current, 3);  // 128, 96 and the new one.
  EXPECT_EQ(world.stats().oversize_segments.freed, 1);
}

TEST(Ladder, AnOversizeSegmentIsReleasedForASmallerRequestToo) {
  World world(max_split(32_MiB));
  world.cache({48_MiB, 32_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(2_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"malloc 0 20MiB", "stream_sync 0 s1", "free 0 #2", "malloc 0 20MiB"}));
}

TEST(Ladder, SeveralOversizeSegmentsGoFromTheLargestDownUntilTheyAreEnough) {
  World world(max_split(32_MiB));
  world.cache({32_MiB, 34_MiB, 36_MiB, 30_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(70_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"malloc 0 70MiB", "stream_sync 0 s1", "free 0 #3",
                                         "free 0 #2", "malloc 0 70MiB"}));
}

TEST(Ladder, IfTheyAreNotEnoughTheFullReleaseFollowsAtOnce) {
  World world(max_split(32_MiB));
  world.cache({32_MiB, 34_MiB, 30_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(96_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"malloc 0 96MiB", "stream_sync 0 s1", "free 0 #2",
                                         "free 0 #1", "free 0 #3", "malloc 0 96MiB"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
}

TEST(Ladder, TheOversizeReleaseKeepsToTheStreamAndPool) {
  World world(max_split(32_MiB));
  world.cache({64_MiB}, s1);
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(40_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.stats().num_alloc_retries, 1);  // It went in the full release.
  EXPECT_EQ(world.driver.calls(),
            (Calls{"malloc 0 40MiB", "stream_sync 0 s16", "free 0 #1", "malloc 0 40MiB"}));
}

// PyTorch would release it when max_split_size was lowered since (D14).
TEST(Ladder, AnOversizeBlockThatIsSplitIsNeverReleased) {
  for (const Bytes request : {40_MiB, 120_MiB}) {
    World world(max_split(32_MiB));
    world.model.add_initial_segment(
        {0, {Address{1 << 30}, 65_MiB}, PoolKind::large, {s0}, {{64_MiB, false}, {1_MiB, true}}});
    world.driver.answer({oom, oom});
    EXPECT_EQ(world.allocate(request).code, ErrorCode::out_of_memory);
    EXPECT_EQ(world.driver.calls().size(), 3U);
  }
}

TEST(Ladder, WithoutAFiniteMaxSplitSizeThereIsNoOversizeRelease) {
  World world;
  world.cache({64_MiB});
  world.driver.answer({oom});
  EXPECT_EQ(world.allocate(80_MiB).code, ErrorCode::none);
  EXPECT_EQ(world.stats().num_alloc_retries, 1);
}

// The longest way down, and a driver error at each of its calls.
TEST(Ladder, AnErrorOfTheDriverEndsItWhereItHappens) {
  const Calls all{"malloc 0 40MiB", "stream_sync 0 s1", "free 0 #2",      "malloc 0 40MiB",
                  "free 0 #1",      "free 0 #3",        "malloc 0 40MiB", "mem_info 0"};
  const std::vector<Answer> answers{oom, 0, 0, oom, 0, 0, oom, 0};
  for (std::size_t failing = 0; failing < all.size(); ++failing) {
    World world(max_split(32_MiB));
    world.cache({2_MiB, 64_MiB, 96_MiB});
    const auto kept = world.allocate(512_B);
    world.driver.calls();

    std::vector<Answer> script = answers;
    script[failing] = fault;
    world.driver.answer(script);
    const Outcome outcome = world.allocate(40_MiB, s0);

    const bool at_the_end = failing + 1 == all.size();
    EXPECT_EQ(outcome.code, at_the_end ? ErrorCode::out_of_memory : ErrorCode::cuda_error);
    EXPECT_EQ(outcome.address, Address{0});
    EXPECT_EQ(world.driver.calls(),
              Calls(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(failing) + 1));
    EXPECT_EQ(world.stats().num_ooms, at_the_end ? 1 : 0);
    EXPECT_EQ(world.stats().num_sync_all_streams, failing >= 4 ? 1 : 0);
    EXPECT_EQ(world.stats().num_alloc_retries, failing >= 6 ? 1 : 0);
    const int released = (failing > 2) + (failing > 4) + (failing > 5);
    EXPECT_EQ(world.stats().num_device_free, released);
    EXPECT_EQ(world.stats().segment.all.current, 4 - released);
    EXPECT_EQ(world.model.free(kept.address), ErrorCode::none);
  }
}

TEST(Ladder, AnErrorInTheMiddleOfTheWalkLeavesTheRestCached) {
  World world(max_split(32_MiB));
  world.cache({32_MiB, 34_MiB, 36_MiB});
  world.driver.answer({oom, 0, 0, fault});
  EXPECT_EQ(world.allocate(90_MiB).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"malloc 0 90MiB", "stream_sync 0 s1", "free 0 #3", "free 0 #2"}));
  EXPECT_EQ(world.stats().reserved_bytes.all.current, (66_MiB).count);
}

TEST(Ladder, ADriverFreeThatSaysOutOfMemoryIsAnErrorLikeAnyOther) {
  World world;
  world.cache({32_MiB});
  world.driver.answer({oom, 0, oom});
  EXPECT_EQ(world.allocate(90_MiB).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.stats().num_ooms, 0);
}

TEST(EmptyCache, GoesThroughTheDevicesInOrderAndCountsAWaitForEach) {
  World world;
  world.cache({512_B, 12_MiB}, s0, 1);
  world.cache({14_MiB}, s0, 0);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s1", "free 0 #3", "stream_sync 1 s1", "free 1 #2", "free 1 #1"}));
  EXPECT_TRUE(world.model.map(1).empty());
  EXPECT_EQ(world.stats(0).num_sync_all_streams, 1);
  EXPECT_EQ(world.stats(1).num_sync_all_streams, 1);
}

TEST(EmptyCache, StopsAtTheFirstErrorAndKeepsTheRest) {
  World world;
  world.cache({12_MiB, 14_MiB, 16_MiB}, s0, 0);
  world.cache({12_MiB}, s0, 1);
  world.driver.answer({0, 0, fault});
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #2"}));
  EXPECT_EQ(world.stats(0).segment.all.current, 2);
  EXPECT_EQ(world.stats(0).num_device_free, 1);
  EXPECT_EQ(world.stats(1).num_sync_all_streams, 0);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"free 0 #2", "free 0 #3", "stream_sync 1 s1", "free 1 #4"}));
}

}  // namespace
}  // namespace cairn::model
