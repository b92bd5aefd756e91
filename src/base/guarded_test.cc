#include "base/guarded.h"

#include <gtest/gtest.h>

#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace cairn {
namespace {

struct Pair {
  Pair(int a, int b) : first(a), second(b) {}
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  int first;
  int second;
};

TEST(Guarded, MakesItsStateInPlace) {
  Guarded<Pair> pair(1, 2);
  EXPECT_EQ(pair.lock()->first, 1);
  EXPECT_EQ((*pair.lock()).second, 2);
}

TEST(Guarded, AConstantOneGivesAConstantState) {
  const Guarded<Pair> pair(1, 2);
  static_assert(std::is_same_v<decltype(*pair.lock()), const Pair&>);
  EXPECT_EQ(pair.lock()->second, 2);
}

TEST(Guarded, AnAccessCannotBeCopied) {
  static_assert(!std::is_copy_constructible_v<Guarded<int>::Access<int>>);
  static_assert(!std::is_copy_assignable_v<Guarded<int>::Access<int>>);
}

// Each thread moves one from here to there and lets the others run in the middle of it; nobody may
// see the first step alone.
TEST(Guarded, OneThreadAtATimeIsInside) {
  Guarded<Pair> pair(0, 0);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pair] {
      for (int i = 0; i < 300; ++i) {
        const auto inside = pair.lock();
        EXPECT_EQ(inside->first + inside->second, 0);
        const int first = inside->first;
        --inside->second;
        std::this_thread::yield();
        inside->first = first + 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(pair.lock()->first, 1200);
}

}  // namespace
}  // namespace cairn
