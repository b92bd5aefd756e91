// The collection of garbage: when, what, by what age, and how much of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr int fault = ScriptedDriver::unknown;
const Answer not_done = Answer::not_done();
constexpr Bytes total = 8_GiB;

double fraction_for(Bytes limit) {
  return static_cast<double>(limit.count) / static_cast<double>(total.count);
}

// Collects above this much; the limit is 1 GiB.
Options collecting_above(Bytes threshold) {
  Options options;
  options.per_process_memory_fraction = fraction_for(1_GiB);
  options.garbage_collection_threshold =
      static_cast<double>(threshold.count) / static_cast<double>((1_GiB).count);
  return options;
}

TEST(Garbage, TheOldestGoUntilTheTargetIsMet) {
  TestWorld world(collecting_above(50_MiB));
  world.cache({12_MiB, 14_MiB});  // Free since 1 and 2 searches ...
  world.block(512_B, s1);         // ... of the large pool: this is none.
  world.cache({16_MiB, 18_MiB});  // 62 MiB: 12 above.
  // Ages 3, 3, 1, 1 and the mean is 2.
  world.allocate(64_MiB);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #2", "malloc 0 64MiB"}));
}

// The mean of those that are left is taken anew for each pass.
TEST(Garbage, FurtherPassesTakeTheOldestOfTheRest) {
  TestWorld world(collecting_above(1000_MiB));
  world.cache({12_MiB});
  for (int search = 0; search < 6; ++search) world.block(2_MiB, s1);
  world.cache({14_MiB});
  world.cache({16_MiB});
  EXPECT_EQ(world.model.reconfigure(collecting_above(40_MiB)), ErrorCode::none);  // Of 62.
  world.driver.calls();
  world.allocate(64_MiB);  // Ages 9, 2, 1: the first goes, then the first of the rest.
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #3", "malloc 0 64MiB"}));
}

// And only while there are a limit and a threshold.
TEST(Garbage, AgesCountTheSearchesOfTheLargePool) {
  TestWorld world(collecting_above(1000_MiB));
  world.cache({12_MiB});
  for (int search = 0; search < 6; ++search) world.block(512_B, s1);
  world.model.set_memory_fraction(0, 1.0);
  for (int search = 0; search < 6; ++search) world.block(2_MiB, s1);
  world.model.set_memory_fraction(0, fraction_for(1_GiB));
  world.cache({14_MiB});
  world.cache({16_MiB});
  EXPECT_EQ(world.model.reconfigure(collecting_above(54_MiB)), ErrorCode::none);  // Of 64.
  world.driver.calls();
  world.allocate(64_MiB);  // Ages 3, 2, 1, not 9, 2, 1: two are not below the mean.
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #4", "malloc 0 64MiB"}));
}

TEST(Garbage, APassDoesNotStopAtTheTarget) {
  TestWorld world(collecting_above(30_MiB));
  world.cache({12_MiB, 12_MiB, 12_MiB});  // 36: 6 above, all of one age.
  world.allocate(64_MiB);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #2", "free 0 #3", "malloc 0 64MiB"}));
}

TEST(Garbage, NothingGoesAtTheThresholdOrWithoutALimitOrThreshold) {
  for (const int which : {0, 1, 2}) {
    Options options = collecting_above(12_MiB);
    if (which == 1) options.garbage_collection_threshold = 0.0;
    TestWorld world(options);
    if (which == 2) world.model.set_memory_fraction(0, 1.0);
    world.cache(which == 0 ? std::vector{12_MiB} : std::vector{14_MiB});
    world.allocate(64_MiB);
    EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 64MiB"}) << which;
  }
}

TEST(Garbage, IsTheUnsplitFreeBlocksOfTheLargePoolOfAnyStream) {
  TestWorld world(collecting_above(1000_MiB));
  const Address a = world.used_block(14_MiB, s0, {s1});
  world.cache({512_B, 12_MiB});
  world.block(2_MiB);  // Of the 12, of which the rest is a part of a segment now.
  world.block(16_MiB);
  world.cache({18_MiB}, s1);
  world.free(a);  // Pending.
  EXPECT_EQ(world.model.reconfigure(collecting_above(1_MiB)), ErrorCode::none);
  world.driver.answer({not_done});
  world.allocate(512_B, s2);  // For a small request too.
  EXPECT_EQ(world.driver.calls(),
            (Calls{"event_query 0 e1", "stream_sync 0 s16", "free 0 #5", "malloc 0 2MiB"}));
}

TEST(Garbage, AFailureEndsTheRequest) {
  TestWorld world(collecting_above(10_MiB));
  world.cache({12_MiB, 14_MiB});
  world.driver.answer({0, 0, fault});
  EXPECT_EQ(world.allocate(64_MiB).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_sync 0 s1", "free 0 #1", "free 0 #2"}));
  EXPECT_EQ(world.stats().segment.all.current, 1);
}

}  // namespace
}  // namespace cairn::model
