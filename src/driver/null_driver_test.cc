// The null driver never gives an address twice.
#include "driver/null_driver.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(NullDriver, GivesAlignedRangesThatDoNotOverlap) {
  NullDriver driver;
  const Address first = *driver.malloc(0, Bytes{1});
  const Address second = *driver.malloc(0, Bytes{3 << 20});
  const Address third = *driver.malloc(0, Bytes{512});
  EXPECT_TRUE(is_aligned(first, Bytes{2 << 20}));
  EXPECT_EQ(second - first, Bytes{2 << 20});
  EXPECT_EQ(third - second, Bytes{4 << 20});
}

TEST(NullDriver, FreeDoesNothing) {
  NullDriver driver;
  const Address first = *driver.malloc(0, Bytes{512});
  EXPECT_TRUE(driver.free(0, first));
  EXPECT_NE(*driver.malloc(0, Bytes{512}), first);
}

}  // namespace
}  // namespace cairn
