#include "heap/free_order.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

Block block(std::uint64_t size, std::uint64_t age, std::uint64_t address) {
  Block made;
  made.size = Bytes{size};
  made.registration_counter = age;
  made.ptr = Address{address};
  return made;
}

void expect_before(FreeOrder order, const Block& first, const Block& second) {
  EXPECT_TRUE(order.precedes(first, second));
  EXPECT_FALSE(order.precedes(second, first));
}

TEST(FreeOrder, IsSizeThenAgeThenAddress) {
  const FreeOrder order{BestFitTie::segment};
  const Block old_high = block(1024, 1, 4096);
  expect_before(order, block(512, 9, 8192), old_high);
  expect_before(order, old_high, block(1024, 2, 512));
  expect_before(order, block(1024, 1, 2048), old_high);
  EXPECT_FALSE(order.precedes(old_high, old_high));
}

TEST(FreeOrder, UnderTieAddressAgeDoesNotCount) {
  const FreeOrder order{BestFitTie::address};
  const Block old_high = block(1024, 1, 4096);
  expect_before(order, block(512, 9, 8192), old_high);
  expect_before(order, block(1024, 2, 512), old_high);
}

}  // namespace
}  // namespace cairn
