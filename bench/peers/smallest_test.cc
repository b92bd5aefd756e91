#include "bench/peers/smallest.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn::bench::peers {
namespace {

TEST(Smallest, IsWithinTheDistanceOfTheSmallestAndHolds) {
  for (const std::uint64_t within : {1u, 7u, 100u}) {
    for (const std::uint64_t border : {100u, 101u, 102u, 150u, 777u, 999u, 1'000u}) {
      std::set<std::uint64_t> asked;
      const auto found = smallest_that({100, 1'000, within}, [&](std::uint64_t number) {
        EXPECT_GE(number, 100u);
        EXPECT_LE(number, 1'000u);
        EXPECT_TRUE(asked.insert(number).second) << "asked twice: " << number;
        return number >= border;
      });
      ASSERT_TRUE(found) << border;
      EXPECT_GE(*found, border);
      EXPECT_LT(*found - border, within) << border;
      EXPECT_LE(asked.size(), 22u);
    }
  }
}

TEST(Smallest, IsNoneWhereItDoesNotHoldForTheMost) {
  EXPECT_FALSE(smallest_that({1, 64, 2}, [](std::uint64_t) { return false; }));
  EXPECT_FALSE(smallest_that({5, 5, 1}, [](std::uint64_t) { return false; }));
  EXPECT_EQ(smallest_that({5, 5, 1}, [](std::uint64_t) { return true; }), 5u);
}

}  // namespace
}  // namespace cairn::bench::peers
