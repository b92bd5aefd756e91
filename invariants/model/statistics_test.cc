// The statistics, worked out by hand, and against a recount of the map.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "invariants/model/model.h"
#include "invariants/model/scripted_driver.h"

namespace cairn {

void PrintTo(const Stat& stat, std::ostream* out) {
  *out << "{current " << stat.current << ", peak " << stat.peak << ", allocated " << stat.allocated
       << ", freed " << stat.freed << "}";
}

namespace model {
namespace {

using namespace literals;

constexpr StreamId s0{0};
constexpr Address base{0x7000'0000'0000};
constexpr std::int64_t kib = 1 << 10;
constexpr std::int64_t mib = 1 << 20;

struct World {
  explicit World(const Options& options = {}) : model(options, {8_GiB}, driver) {}
  ~World() { EXPECT_TRUE(statistics_recount(model, 0)); }

  Address allocate(Bytes size, Bytes alignment = 512_B) {
    return model.allocate({0, s0.value, size, alignment}).address;
  }
  DeviceStats stats() { return model.stats(0); }

  ScriptedDriver driver;
  Model model;
};

TEST(Statistics, OfOneSmallAllocationAndItsFree) {
  World world;
  const Address a = world.allocate(1000_B);
  DeviceStats stats = world.stats();
  EXPECT_EQ(stats.allocation.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.allocation.small_pool, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.allocation.large_pool, (Stat{}));
  EXPECT_EQ(stats.active.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.allocated_bytes.all, (Stat{kib, kib, kib, 0}));
  EXPECT_EQ(stats.active_bytes.all, (Stat{kib, kib, kib, 0}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{1000, 1000, 1000, 0}));
  EXPECT_EQ(stats.segment.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.reserved_bytes.all, (Stat{2 * mib, 2 * mib, 2 * mib, 0}));
  EXPECT_EQ(stats.inactive_split.all, (Stat{1, 1, 1, 0}));
  const std::int64_t rest = 2 * mib - kib;
  EXPECT_EQ(stats.inactive_split_bytes.all, (Stat{rest, rest, rest, 0}));
  EXPECT_EQ(stats.num_device_alloc, 1);
  EXPECT_EQ(stats.max_split_size_bytes, Options::unlimited);

  world.model.free(a);
  stats = world.stats();
  EXPECT_EQ(stats.allocation.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{0, 1000, 1000, 1000}));
  EXPECT_EQ(stats.active_bytes.small_pool, (Stat{0, kib, kib, kib}));
  EXPECT_EQ(stats.inactive_split.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.inactive_split_bytes.all, (Stat{0, rest, rest, rest}));
  EXPECT_EQ(stats.segment.all, (Stat{1, 1, 1, 0}));
}

// Four blocks that fill a segment: a, b, c, d of 512 KiB each.
TEST(Statistics, InactiveSplitStepByStep) {
  World world;
  const auto expect = [&](Stat count, Stat bytes) {
    EXPECT_EQ(world.stats().inactive_split.small_pool, count);
    EXPECT_EQ(world.stats().inactive_split_bytes.small_pool, bytes);
  };
  const Address a = world.allocate(512_KiB);  // An unsplit block is split: the remainder joins.
  expect({1, 1, 1, 0}, {1536 * kib, 1536 * kib, 1536 * kib, 0});
  const Address b = world.allocate(512_KiB);  // A split one is split: what is taken leaves.
  expect({1, 1, 1, 0}, {1024 * kib, 1536 * kib, 1536 * kib, 512 * kib});
  const Address c = world.allocate(512_KiB);
  expect({1, 1, 1, 0}, {512 * kib, 1536 * kib, 1536 * kib, 1024 * kib});
  const Address d = world.allocate(512_KiB);  // A split one is taken whole.
  expect({0, 1, 1, 1}, {0, 1536 * kib, 1536 * kib, 1536 * kib});

  world.model.free(a);  // Nothing to merge with.
  expect({1, 1, 2, 1}, {512 * kib, 1536 * kib, 2048 * kib, 1536 * kib});
  world.model.free(c);
  expect({2, 2, 3, 1}, {1024 * kib, 1536 * kib, 2560 * kib, 1536 * kib});
  world.model.free(b);  // Two neighbours go, one result comes: net 1 less, 512 KiB more.
  expect({1, 2, 3, 2}, {1536 * kib, 1536 * kib, 3072 * kib, 1536 * kib});
  world.model.free(d);  // One neighbour goes, and the result is whole.
  expect({0, 2, 3, 3}, {0, 1536 * kib, 3072 * kib, 3072 * kib});
}

TEST(Statistics, AMergeWithOneNeighbourThatLeavesASplitBlockDoesNotChangeTheCount) {
  World world;
  world.allocate(512_KiB);
  const Address b = world.allocate(512_KiB);
  world.model.free(b);
  EXPECT_EQ(world.stats().inactive_split.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(world.stats().inactive_split_bytes.all,
            (Stat{1536 * kib, 1536 * kib, 2048 * kib, 512 * kib}));
}

TEST(Statistics, AWholeSegmentTakenAndFreedIsNoSplit) {
  World world;
  world.model.free(world.allocate(10_MiB));
  EXPECT_EQ(world.stats().inactive_split.all, (Stat{}));
  EXPECT_EQ(world.stats().inactive_split_bytes.all, (Stat{}));
}

TEST(Statistics, AnAlignedCutOfASplitBlockTakesItWholeAndGivesBackThePieces) {
  World world;
  world.model.add_initial_segment(
      {0, {base, 20_MiB}, PoolKind::large, s0, {{1_MiB, true}, {19_MiB, false}}});
  EXPECT_EQ(world.allocate(2_MiB, 2_MiB), base + 2_MiB);
  EXPECT_EQ(world.stats().inactive_split.large_pool, (Stat{2, 2, 3, 1}));
  EXPECT_EQ(world.stats().inactive_split_bytes.large_pool,
            (Stat{17 * mib, 19 * mib, 36 * mib, 19 * mib}));
}

TEST(Statistics, AnAlignedCutOfAnUnsplitBlockAddsThePieces) {
  World world;
  world.driver.next_address(base + 1_MiB);
  EXPECT_EQ(world.allocate(2_MiB, 2_MiB), base + 2_MiB);
  EXPECT_EQ(world.stats().inactive_split.large_pool, (Stat{2, 2, 2, 0}));
  EXPECT_EQ(world.stats().inactive_split_bytes.large_pool, (Stat{18 * mib, 18 * mib, 18 * mib, 0}));
  World other;  // And without a remainder, the prefix alone.
  other.driver.next_address(base + 1_MiB);
  EXPECT_EQ(other.allocate(11_MiB - 512_B, 2_MiB), base + 2_MiB);
  EXPECT_EQ(other.stats().inactive_split_bytes.all, (Stat{mib, mib, mib, 0}));
  EXPECT_EQ(other.stats().allocated_bytes.all.current, 11 * mib);
}

TEST(Statistics, AllHasAPeakOfItsOwn) {
  World world;
  const Address small = world.allocate(1_MiB);
  world.model.free(small);
  world.allocate(10_MiB);
  EXPECT_EQ(world.stats().allocated_bytes.small_pool.peak, mib);
  EXPECT_EQ(world.stats().allocated_bytes.large_pool.peak, 10 * mib);
  EXPECT_EQ(world.stats().allocated_bytes.all.peak, 10 * mib);
}

TEST(Statistics, OversizeGoesByTheSizeOfTheBlock) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  World world(options);
  const Address a = world.allocate(20_MiB - 512_B);  // The block is the segment: 20 MiB.
  world.allocate(18_MiB);
  EXPECT_EQ(world.stats().oversize_allocations, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(world.stats().oversize_segments, (Stat{1, 1, 1, 0}));
  world.model.free(a);
  world.model.empty_cache();
  EXPECT_EQ(world.stats().oversize_allocations, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(world.stats().oversize_segments, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(world.stats().max_split_size_bytes, (20_MiB).count);
}

TEST(Statistics, InitialSegmentsCountButWereNotAskedOfTheDriver) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  World world(options);
  world.model.add_initial_segment(
      {0, {base, 20_MiB}, PoolKind::large, s0, {{4_MiB, true}, {16_MiB, false}}});
  world.model.add_initial_segment(
      {0, {base + 1_GiB, 24_MiB}, PoolKind::large, s0, {{24_MiB, true}}});
  world.model.add_initial_segment(
      {0, {base + 2_GiB, 2_MiB}, PoolKind::small, s0, {{2_MiB, false}}});
  const DeviceStats stats = world.stats();
  EXPECT_EQ(stats.segment.all, (Stat{3, 3, 3, 0}));
  EXPECT_EQ(stats.reserved_bytes.all, (Stat{46 * mib, 46 * mib, 46 * mib, 0}));
  EXPECT_EQ(stats.allocation.all, (Stat{2, 2, 2, 0}));
  EXPECT_EQ(stats.requested_bytes.large_pool, (Stat{28 * mib, 28 * mib, 28 * mib, 0}));
  EXPECT_EQ(stats.inactive_split.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.inactive_split_bytes.all, (Stat{16 * mib, 16 * mib, 16 * mib, 0}));
  EXPECT_EQ(stats.oversize_segments, (Stat{2, 2, 2, 0}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.num_device_alloc, 0);
}

TEST(Statistics, ResettingThePeakLeavesTheRestAndResettingTheSumsLeavesThePeak) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  World world(options);
  const Address a = world.allocate(1_MiB);
  world.allocate(512_KiB - 1_B);
  world.allocate(20_MiB);
  world.model.free(a);
  world.model.free(world.allocate(12_MiB));
  world.driver.answer({2, 0, 0, 2});
  world.allocate(14_MiB);

  world.model.reset_peak_stats();
  EXPECT_EQ(world.stats().allocated_bytes.small_pool, (Stat{mib / 2, mib / 2, 3 * mib / 2, mib}));
  EXPECT_EQ(world.stats().num_ooms, 1);

  world.model.reset_accumulated_stats();
  const DeviceStats stats = world.stats();
  EXPECT_EQ(stats.allocated_bytes.small_pool, (Stat{mib / 2, mib / 2, 0, 0}));
  EXPECT_EQ(stats.requested_bytes.small_pool, (Stat{mib / 2 - 1, mib / 2 - 1, 0, 0}));
  EXPECT_EQ(stats.segment.all, (Stat{2, 2, 0, 0}));
  EXPECT_EQ(stats.oversize_segments, (Stat{1, 1, 0, 0}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{1, 1, 0, 0}));
  EXPECT_EQ(stats.num_alloc_retries, 0);
  EXPECT_EQ(stats.num_ooms, 0);
  EXPECT_EQ(stats.num_sync_all_streams, 0);
  EXPECT_EQ(stats.num_device_alloc, 0);
  EXPECT_EQ(stats.num_device_free, 0);
}

// Whatever happens, what the statistics say is what the map shows, and the sums agree with it.
TEST(Statistics, AreAlwaysARecountOfTheMap) {
  std::mt19937 random(7);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  Options options;
  options.max_split_size_bytes = (24_MiB).count;
  World world(options);
  std::vector<Address> live;
  for (int step = 0; step < 3000; ++step) {
    if (below(16) == 0)
      world.driver.answer({below(8) ? 2 : 999, below(8) ? 0 : 999, below(2) ? 0 : 2, 2, 2});
    if (below(64) == 0) world.model.empty_cache();
    if (live.empty() || (live.size() < 40 && below(2) == 0)) {
      const Bytes size{(std::uint64_t{1} << below(26)) + below(1000)};
      const Address given = world.allocate(size, {std::uint64_t{1} << below(22)});
      if (given != Address{0}) live.push_back(given);
    } else {
      const std::size_t chosen = below(static_cast<std::uint32_t>(live.size()));
      ASSERT_EQ(world.model.free(live[chosen]), ErrorCode::none);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    ASSERT_TRUE(statistics_recount(world.model, 0)) << "after step " << step;
    const Stat split = world.stats().inactive_split_bytes.all;
    ASSERT_EQ(split.current, split.allocated - split.freed);
  }
  EXPECT_GT(world.stats().num_ooms, 0);
  EXPECT_GT(world.stats().inactive_split.large_pool.peak, 5);
}

}  // namespace
}  // namespace model
}  // namespace cairn
