// The statistics against sums made by hand.
#include "heap/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "cairn/options.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Bytes unlimited{Options::unlimited};

TEST(Ledger, BeginsAtZero) {
  DeviceStats zero;
  zero.max_split_size_bytes = (64_MiB).count;
  EXPECT_EQ(Ledger(64_MiB).read(), zero);
}

// Hand out 600 bytes in 1024, and give them back.
TEST(Ledger, ABlockComesAndGoes) {
  Ledger ledger(unlimited);
  ledger.lane(0).handed_out(PoolKind::small, 1024_B, 600_B);
  DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.allocation.small_pool, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.active.small_pool, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.allocated_bytes.small_pool, (Stat{1024, 1024, 1024, 0}));
  EXPECT_EQ(stats.active_bytes.small_pool, (Stat{1024, 1024, 1024, 0}));
  EXPECT_EQ(stats.requested_bytes.small_pool, (Stat{600, 600, 600, 0}));
  EXPECT_EQ(stats.requested_bytes.all, stats.requested_bytes.small_pool);
  EXPECT_EQ(stats.requested_bytes.large_pool, Stat{});

  ledger.lane(0).freed(PoolKind::small, 1024_B);
  stats = ledger.read();
  EXPECT_EQ(stats.allocation.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.allocated_bytes.all, (Stat{0, 1024, 1024, 1024}));
  EXPECT_EQ(stats.active.all, (Stat{1, 1, 1, 0}));  // As long as it waits for other streams.
  EXPECT_EQ(stats.requested_bytes.all, (Stat{600, 600, 600, 0}));

  ledger.lane(0).became_free(PoolKind::small, 1024_B, 600_B);
  stats = ledger.read();
  EXPECT_EQ(stats.active.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.active_bytes.all, (Stat{0, 1024, 1024, 1024}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{0, 600, 600, 600}));
}

TEST(Ledger, ABlockThatNobodyWaitsForGoesInOneStep) {
  Ledger in_one(512_B);
  Ledger in_two(512_B);
  for (Ledger* ledger : {&in_one, &in_two}) {
    ledger->lane(0).handed_out(PoolKind::small, 1024_B, 600_B);
    ledger->lane(0).handed_out(PoolKind::large, 2_MiB, 2_MiB);
  }
  in_one.lane(0).freed_at_once(PoolKind::small, 1024_B, 600_B);
  in_two.lane(0).freed(PoolKind::small, 1024_B);
  in_two.lane(0).became_free(PoolKind::small, 1024_B, 600_B);
  EXPECT_EQ(in_one.read(), in_two.read());
  EXPECT_EQ(in_one.read().oversize_allocations, (Stat{1, 2, 2, 1}));
}

TEST(Ledger, WhatIsPendingIsActiveAtThePeak) {
  Ledger ledger(unlimited);
  ledger.lane(0).handed_out(PoolKind::small, 1_KiB, 1_B);
  ledger.lane(0).freed(PoolKind::small, 1_KiB);
  ledger.lane(0).handed_out(PoolKind::small, 2_KiB, 1_B);
  EXPECT_EQ(ledger.pending().blocks[0], 1);
  EXPECT_EQ(ledger.pending().bytes[0], 1024);
  EXPECT_EQ(ledger.pending().bytes[1], 0);
  EXPECT_EQ(ledger.read().active_bytes.small_pool, (Stat{3072, 3072, 3072, 0}));
  ledger.lane(0).became_free(PoolKind::small, 1_KiB, 1_B);
  EXPECT_FALSE(ledger.pending().is_any());
  EXPECT_EQ(ledger.read().active_bytes.small_pool, (Stat{2048, 3072, 3072, 1024}));
  EXPECT_EQ(ledger.read().allocated_bytes.small_pool, (Stat{2048, 2048, 3072, 1024}));
}

TEST(Ledger, ANewLimitOfSplitsPostsTheDifference) {
  Ledger ledger(64_MiB);
  ledger.lane(0).handed_out(PoolKind::large, 64_MiB, 1_B);
  ledger.segment_added(PoolKind::large, 64_MiB);
  ledger.max_split_size_changed(20_MiB, 3, 4);
  EXPECT_EQ(ledger.read().max_split_size_bytes, (20_MiB).count);
  EXPECT_EQ(ledger.read().oversize_allocations, (Stat{3, 3, 3, 0}));
  EXPECT_EQ(ledger.read().oversize_segments, (Stat{4, 4, 4, 0}));
  ledger.max_split_size_changed(unlimited, 0, 0);
  EXPECT_EQ(ledger.read().oversize_allocations, (Stat{0, 3, 3, 3}));
  EXPECT_EQ(ledger.read().oversize_segments, (Stat{0, 4, 4, 4}));
}

TEST(Ledger, WhatIsReservedIsOfBothPools) {
  Ledger ledger(unlimited);
  ledger.segment_added(PoolKind::small, 2_MiB);
  ledger.segment_added(PoolKind::large, 20_MiB);
  EXPECT_EQ(ledger.reserved(), 22_MiB);
}

// The peak of both pools is of their sum at one time, not the sum of their peaks.
TEST(Ledger, ThePeakOfAllIsNotTheSumOfPeaks) {
  Ledger ledger(unlimited);
  ledger.lane(0).handed_out(PoolKind::small, 1_KiB, 1_B);
  ledger.lane(0).freed(PoolKind::small, 1_KiB);
  ledger.lane(0).handed_out(PoolKind::large, 2_KiB, 1_B);
  const StatArray bytes = ledger.read().allocated_bytes;
  EXPECT_EQ(bytes.small_pool, (Stat{0, 1024, 1024, 1024}));
  EXPECT_EQ(bytes.large_pool, (Stat{2048, 2048, 2048, 0}));
  EXPECT_EQ(bytes.all, (Stat{2048, 2048, 3072, 1024}));
}

HandedOut plain(Bytes size) { return {size, size, {}}; }

// ---- lanes ----

TEST(LaneLedger, PostsByItselfUpToWhatIsLeftBelowThePeak) {
  Ledger ledger(unlimited);
  LaneLedger& lane = ledger.lane(3);
  EXPECT_FALSE(lane.try_hand_out(PoolKind::small, plain(512_B)));
  lane.handed_out(PoolKind::small, 1_KiB, 1_KiB);
  lane.freed_at_once(PoolKind::small, 1_KiB, 1_KiB);
  EXPECT_FALSE(lane.try_hand_out(PoolKind::small, plain(1_KiB + 512_B)));
  EXPECT_FALSE(lane.try_hand_out(PoolKind::large, plain(512_B)));
  EXPECT_TRUE(lane.try_hand_out(PoolKind::small, plain(1_KiB)));
  EXPECT_EQ(ledger.read().allocated_bytes.small_pool, (Stat{1024, 1024, 2048, 1024}));
}

TEST(LaneLedger, CannotPostASplitThatMayBeAPeak) {
  Ledger ledger(unlimited);
  LaneLedger& lane = ledger.lane(0);
  lane.handed_out(PoolKind::small, 1_KiB, 1_KiB);
  EXPECT_FALSE(lane.try_free(PoolKind::small, {1_KiB, 1_KiB, {1, 1024}}));
  EXPECT_TRUE(lane.try_free(PoolKind::small, {1_KiB, 1_KiB, {0, 0}}));
  EXPECT_FALSE(lane.try_hand_out(PoolKind::small, {1_KiB, 1_KiB, {1, 512}}));
  EXPECT_EQ(ledger.read().inactive_split.all, Stat{});
  EXPECT_EQ(ledger.read().allocation.all, (Stat{0, 1, 1, 1}));
}

TEST(LaneLedger, LeavesOversizeBlocksToTheWhole) {
  Ledger ledger(1_KiB);
  LaneLedger& lane = ledger.lane(0);
  lane.handed_out(PoolKind::small, 1_KiB, 1_KiB);
  EXPECT_FALSE(lane.try_free(PoolKind::small, plain(1_KiB)));
  lane.freed_at_once(PoolKind::small, 1_KiB, 1_KiB);
  EXPECT_FALSE(lane.try_hand_out(PoolKind::small, plain(1_KiB)));
  EXPECT_TRUE(lane.try_hand_out(PoolKind::small, plain(512_B)));
}

// However lanes take turns, the peaks are those of the sum after each step.
class LanesInTurn {
 public:
  void step() {
    const std::size_t lane = random_() % live_.size();
    const bool is_shrinking = steps_++ / 1000 % 2 == 1;
    if (!live_[lane].empty() && random_() % 100 < (is_shrinking ? 60 : 40)) {
      free_one(lane);
    } else {
      hand_out_one(lane);
    }
    if (random_() % 5000 == 0) {
      ledger_.reset_peak();
      allocated_.peak = allocated_.now;
      requested_.peak = requested_.now;
    }
    const DeviceStats stats = ledger_.read();
    ASSERT_EQ(stats.allocated_bytes.all.current, allocated_.now);
    ASSERT_EQ(stats.allocated_bytes.all.peak, allocated_.peak);
    ASSERT_EQ(stats.requested_bytes.all.current, requested_.now);
    ASSERT_EQ(stats.requested_bytes.all.peak, requested_.peak);
  }
  int by_themselves() const { return by_themselves_; }

 private:
  struct Sum {
    std::int64_t now = 0;
    std::int64_t peak = 0;
    void change(std::int64_t n) { peak = std::max(peak, now += n); }
  };

  void free_one(std::size_t lane) {
    const HandedOut block = live_[lane].back();
    live_[lane].pop_back();
    ASSERT_TRUE(ledger_.lane(lane).try_free(PoolKind::large, block));
    allocated_.change(-signed_count(block.size));
    requested_.change(-signed_count(block.requested));
  }
  void hand_out_one(std::size_t lane) {
    const HandedOut block{Bytes{512 * (1 + random_() % 9)}, Bytes{1 + random_() % 5000}, {}};
    if (ledger_.lane(lane).try_hand_out(PoolKind::large, block)) {
      ++by_themselves_;
    } else {
      ledger_.lane(lane).handed_out(PoolKind::large, block.size, block.requested);
    }
    live_[lane].push_back(block);
    allocated_.change(signed_count(block.size));
    requested_.change(signed_count(block.requested));
  }

  Ledger ledger_{unlimited};
  std::mt19937_64 random_{7};
  std::array<std::vector<HandedOut>, 4> live_;
  Sum allocated_;
  Sum requested_;
  int steps_ = 0;
  int by_themselves_ = 0;
};

TEST(LaneLedger, PeaksOfManyLanesAreThoseOfTheirSum) {
  LanesInTurn lanes;
  for (int step = 0; step < 20'000; ++step) {
    lanes.step();
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step;
  }
  EXPECT_GT(lanes.by_themselves(), 5000);
}

TEST(Ledger, SegmentsAndReservedBytesArePerPool) {
  Ledger ledger(unlimited);
  ledger.segment_added(PoolKind::small, 2_MiB);
  ledger.segment_added(PoolKind::large, 20_MiB);
  ledger.segment_removed(PoolKind::small, 2_MiB);
  const DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.segment.all, (Stat{1, 2, 2, 1}));
  EXPECT_EQ(stats.segment.small_pool, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.reserved_bytes.large_pool, (Stat{20 << 20, 20 << 20, 20 << 20, 0}));
  EXPECT_EQ(stats.reserved_bytes.all, (Stat{20 << 20, 22 << 20, 22 << 20, 2 << 20}));
}

TEST(Ledger, InactiveSplitChangesByBothSigns) {
  Ledger ledger(unlimited);
  ledger.lane(0).inactive_split_changed(PoolKind::large, 1, 4096);   // An unsplit block was split.
  ledger.lane(0).inactive_split_changed(PoolKind::large, 0, -1024);  // The remainder was cut again.
  ledger.lane(0).inactive_split_changed(PoolKind::large, 1, 1024);   // That piece is free again.
  ledger.lane(0).inactive_split_changed(PoolKind::large, -1, 2048);  // Both merge round a third.
  ledger.lane(0).inactive_split_changed(PoolKind::large, 0, 0);
  const DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.inactive_split.large_pool, (Stat{1, 2, 2, 1}));
  EXPECT_EQ(stats.inactive_split_bytes.large_pool, (Stat{6144, 6144, 7168, 1024}));
  EXPECT_EQ(stats.inactive_split_bytes.small_pool, Stat{});
}

TEST(Ledger, OversizeIsFromMaxSplitSize) {
  Ledger ledger(64_MiB);
  ledger.segment_added(PoolKind::large, 64_MiB - 512_B);
  ledger.lane(0).handed_out(PoolKind::large, 64_MiB - 512_B, 1_B);
  EXPECT_EQ(ledger.read().oversize_segments, Stat{});
  EXPECT_EQ(ledger.read().oversize_allocations, Stat{});

  ledger.segment_added(PoolKind::large, 64_MiB);
  ledger.lane(0).handed_out(PoolKind::large, 64_MiB, 1_B);
  EXPECT_EQ(ledger.read().oversize_segments, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(ledger.read().oversize_allocations, (Stat{1, 1, 1, 0}));

  ledger.lane(0).freed(PoolKind::large, 64_MiB - 512_B);
  ledger.lane(0).freed(PoolKind::large, 64_MiB);
  ledger.segment_removed(PoolKind::large, 64_MiB - 512_B);
  ledger.segment_removed(PoolKind::large, 64_MiB);
  EXPECT_EQ(ledger.read().oversize_segments, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(ledger.read().oversize_allocations, (Stat{0, 1, 1, 1}));
}

TEST(Ledger, WithoutALimitNothingIsOversize) {
  Ledger ledger(unlimited);
  ledger.segment_added(PoolKind::large, Bytes{std::uint64_t{1} << 60});
  EXPECT_EQ(ledger.read().oversize_segments, Stat{});
}

TEST(Ledger, ResettingThePeakBringsItToWhatIsThere) {
  Ledger ledger(1_MiB);
  ledger.lane(0).handed_out(PoolKind::small, 1_MiB, 5_B);
  ledger.lane(0).handed_out(PoolKind::large, 2_MiB, 7_B);
  ledger.segment_added(PoolKind::large, 20_MiB);
  ledger.lane(0).inactive_split_changed(PoolKind::small, 1, 512);
  ledger.lane(0).inactive_split_changed(PoolKind::small, -1, -512);
  ledger.lane(0).freed(PoolKind::small, 1_MiB);
  ledger.lane(0).became_free(PoolKind::small, 1_MiB, 5_B);
  ledger.segment_removed(PoolKind::large, 20_MiB);
  ledger.reset_peak();
  const DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.allocation.all, (Stat{1, 1, 2, 1}));
  EXPECT_EQ(stats.allocation.small_pool, (Stat{0, 0, 1, 1}));
  EXPECT_EQ(stats.active.all, (Stat{1, 1, 2, 1}));
  EXPECT_EQ(stats.allocated_bytes.all, (Stat{2 << 20, 2 << 20, 3 << 20, 1 << 20}));
  EXPECT_EQ(stats.active_bytes.all, (Stat{2 << 20, 2 << 20, 3 << 20, 1 << 20}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{7, 7, 12, 5}));
  EXPECT_EQ(stats.inactive_split.all, (Stat{0, 0, 1, 1}));
  EXPECT_EQ(stats.inactive_split_bytes.small_pool, (Stat{0, 0, 512, 512}));
  EXPECT_EQ(stats.segment.all, (Stat{0, 0, 1, 1}));
  EXPECT_EQ(stats.reserved_bytes.large_pool, (Stat{0, 0, 20 << 20, 20 << 20}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{1, 1, 2, 1}));
  EXPECT_EQ(stats.oversize_segments, (Stat{0, 0, 1, 1}));

  ledger.lane(0).handed_out(PoolKind::small, 1_MiB, 1_B);  // The next peak counts from here.
  EXPECT_EQ(ledger.read().allocation.all, (Stat{2, 2, 3, 1}));
}

TEST(Ledger, ResettingWhatAccumulatedKeepsCurrentAndPeak) {
  Ledger ledger(1_MiB);
  ledger.lane(0).handed_out(PoolKind::small, 1_MiB, 100_B);
  ledger.lane(0).handed_out(PoolKind::large, 2_MiB, 200_B);
  ledger.lane(0).freed(PoolKind::small, 1_MiB);
  ledger.segment_added(PoolKind::large, 20_MiB);
  ledger.reset_accumulated();
  DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.allocation.all, (Stat{1, 2, 0, 0}));
  EXPECT_EQ(stats.allocation.small_pool, (Stat{0, 1, 0, 0}));
  EXPECT_EQ(stats.active.all, (Stat{2, 2, 0, 0}));  // One is pending.
  EXPECT_EQ(stats.active_bytes.all, (Stat{3 << 20, 3 << 20, 0, 0}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{300, 300, 0, 0}));
  EXPECT_EQ(stats.segment.large_pool, (Stat{1, 1, 0, 0}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{1, 2, 0, 0}));
  EXPECT_EQ(stats.oversize_segments, (Stat{1, 1, 0, 0}));

  // What is freed after the reset counts as freed, though it was handed out before.
  ledger.lane(0).became_free(PoolKind::small, 1_MiB, 100_B);
  ledger.lane(0).freed(PoolKind::large, 2_MiB);
  ledger.lane(0).handed_out(PoolKind::large, 2_MiB, 50_B);
  stats = ledger.read();
  EXPECT_EQ(stats.allocation.all, (Stat{1, 2, 1, 1}));
  EXPECT_EQ(stats.active.all, (Stat{2, 2, 1, 1}));
  EXPECT_EQ(stats.active_bytes.small_pool, (Stat{0, 1 << 20, 0, 1 << 20}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{250, 300, 50, 100}));
}

TEST(Ledger, CountersCountAndAreReset) {
  Ledger ledger(unlimited);
  for (int i = 0; i < 1; ++i) ledger.retried();
  for (int i = 0; i < 2; ++i) ledger.ran_out_of_memory();
  for (int i = 0; i < 3; ++i) ledger.driver_allocated();
  for (int i = 0; i < 4; ++i) ledger.driver_freed();
  for (int i = 0; i < 5; ++i) ledger.synced_all_streams();
  for (int i = 0; i < 6; ++i) ledger.rejected();
  ledger.reset_peak();
  const DeviceStats stats = ledger.read();
  EXPECT_EQ(stats.num_alloc_retries, 1);
  EXPECT_EQ(stats.num_ooms, 2);
  EXPECT_EQ(stats.num_device_alloc, 3);
  EXPECT_EQ(stats.num_device_free, 4);
  EXPECT_EQ(stats.num_sync_all_streams, 5);
  EXPECT_EQ(stats.num_oom_rejections, 6);

  ledger.reset_accumulated();
  DeviceStats zero;
  zero.max_split_size_bytes = Options::unlimited;
  EXPECT_EQ(ledger.read(), zero);
}

}  // namespace
}  // namespace cairn
