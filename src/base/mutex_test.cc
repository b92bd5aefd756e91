#include "base/mutex.h"

#include <gtest/gtest.h>

#include <mutex>
#include <thread>
#include <vector>

namespace cairn {
namespace {

TEST(Mutex, IsHeldByOneAtATime) {
  Mutex mutex;
  mutex.lock();
  EXPECT_FALSE(mutex.try_lock());
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
}

// Also for thread sanitizer: the sums are plain memory.
TEST(Mutex, ThreadsThatCountUnderItLoseNothing) {
  constexpr int threads = 4;
  constexpr int rounds = 20000;
  Mutex mutex;
  long first = 0;
  long second = 0;
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&] {
      for (int i = 0; i < rounds; ++i) {
        const std::lock_guard<Mutex> lock(mutex);
        EXPECT_EQ(first, second);
        ++first;
        if (i % 1000 == 0) std::this_thread::yield();  // Others meet it taken for long.
        ++second;
      }
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(first, threads * rounds);
  EXPECT_EQ(second, threads * rounds);
}

}  // namespace
}  // namespace cairn
