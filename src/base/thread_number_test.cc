#include "base/thread_number.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace cairn {
namespace {

TEST(ThreadNumber, StaysAndIsNeverUsedAgain) {
  const std::uint64_t mine = this_thread_number();
  EXPECT_EQ(this_thread_number(), mine);
  std::set<std::uint64_t> seen{mine};
  for (int i = 0; i < 20; ++i) {
    std::uint64_t its = 0;
    std::thread([&] { its = this_thread_number(); }).join();
    EXPECT_TRUE(seen.insert(its).second) << its;
    EXPECT_GT(its, mine);
  }
}

TEST(ThreadNumber, AThreadGoesUnderAnotherAndBack) {
  const std::uint64_t mine = this_thread_number();
  EXPECT_EQ(exchange_thread_number(0), mine);
  const std::uint64_t other = this_thread_number();
  EXPECT_GT(other, mine);
  EXPECT_EQ(exchange_thread_number(mine), other);
  EXPECT_EQ(this_thread_number(), mine);
}

}  // namespace
}  // namespace cairn
