#include "base/lane_mutex.h"

#include <gtest/gtest.h>

#include <array>
#include <mutex>
#include <thread>
#include <vector>

#include "base/guarded.h"

namespace cairn {
namespace {

TEST(LaneMutex, ALaneIsHeldByOneAtATimeAndLeavesTheOthers) {
  LaneMutex<3> mutex;
  Mutex* first = mutex.try_lock_lane(0);
  ASSERT_NE(first, nullptr);
  EXPECT_FALSE(first->try_lock());
  Mutex* second = mutex.try_lock_lane(1);
  ASSERT_NE(second, nullptr);
  second->unlock();
  first->unlock();
}

TEST(LaneMutex, NoLaneIsHadWhileTheWholeIs) {
  LaneMutex<3> mutex;
  {
    const std::lock_guard lock(mutex);
    EXPECT_EQ(mutex.try_lock_lane(0), nullptr);
    EXPECT_EQ(mutex.try_lock_lane(2), nullptr);
  }
  Mutex* lane = mutex.try_lock_lane(0);
  ASSERT_NE(lane, nullptr);
  lane->unlock();
}

TEST(LaneMutex, ARefusedLaneIsNotLeftLocked) {
  LaneMutex<1> mutex;
  mutex.lock();
  EXPECT_EQ(mutex.try_lock_lane(0), nullptr);
  mutex.unlock();
  mutex.lock();  // Would wait for ever.
  mutex.unlock();
}

TEST(LaneMutex, AGuardedLaneIsLeftAtTheEndOfItsAccess) {
  Guarded<int, LaneMutex<2>> number(7);
  {
    const auto lane = number.try_lock_lane(1);
    ASSERT_TRUE(lane);
    EXPECT_EQ(*lane.operator->(), 7);
  }
  const auto whole = number.lock();
  EXPECT_FALSE(number.try_lock_lane(1));
}

constexpr int threads = 4;
constexpr std::size_t lanes = 2;

// The numbers of each lane are changed by its holders, and by holders of the whole: plain memory,
// also for thread sanitizer.
struct Counts {
  LaneMutex<lanes> mutex;
  std::array<long, lanes> counts{};
  std::array<long, lanes> again{};
  long total = 0;  // The whole's: read in lanes.

  void count(std::size_t lane) {
    EXPECT_EQ(counts[lane], again[lane]);
    ++counts[lane];
    if (counts[lane] % 500 == 0) std::this_thread::yield();  // Others meet it taken for long.
    ++again[lane];
  }
  void count_all() {
    for (std::size_t lane = 0; lane < lanes; ++lane) count(lane);
    ++total;
  }
  // Gives how often the whole was had instead.
  int run(std::size_t lane) {
    int refused = 0;
    long seen = 0;
    for (int i = 0; i < 20000; ++i) {
      Mutex* held = i % 100 == 0 ? nullptr : mutex.try_lock_lane(lane);
      if (held != nullptr) {
        EXPECT_LE(seen, total);
        seen = total;
        count(lane);
        held->unlock();
      } else {
        const std::lock_guard lock(mutex);
        count_all();
        ++refused;
      }
    }
    return refused;
  }
};

TEST(LaneMutex, ThreadsThatCountUnderItLoseNothing) {
  Counts counted;
  std::array<int, threads> whole{};
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] { whole[t] = counted.run(t % lanes); });
  }
  for (std::thread& thread : running) thread.join();
  int had_whole = 0;
  for (const int times : whole) had_whole += times;
  EXPECT_EQ(counted.total, had_whole);
  EXPECT_GE(had_whole, threads * 200);
  // Each step counts its lane; those with the whole count the other one too.
  EXPECT_EQ(counted.counts[0] + counted.counts[1], threads * 20000 + had_whole);
  EXPECT_EQ(counted.counts, counted.again);
}

}  // namespace
}  // namespace cairn
