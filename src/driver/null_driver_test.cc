// The null driver never gives an address or an event twice, and is never busy.
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

TEST(NullDriver, AllWorkIsDone) {
  NullDriver driver(2);
  const EventHandle first = *driver.event_create(0, {});
  const EventHandle second = *driver.event_create(1, {});
  EXPECT_NE(first, EventHandle{});
  EXPECT_NE(first, second);
  const StreamRef stream{1, 4096};
  EXPECT_EQ(*driver.stream_ctx(stream), ContextHandle{});
  EXPECT_EQ(*driver.stream_id(stream), 4096u);
  EXPECT_TRUE(driver.event_record(stream, second));
  EXPECT_TRUE(driver.ctx_record(0, first));
  EXPECT_TRUE(*driver.event_query(1, second));
  EXPECT_TRUE(driver.event_sync(1, second));
  EXPECT_TRUE(driver.stream_sync(stream));
  EXPECT_TRUE(driver.device_sync(1));
  EXPECT_TRUE(driver.event_destroy(0, first));
  EXPECT_TRUE(driver.processes(0).empty());
  EXPECT_EQ(driver.mem_info(0)->total, driver.total_memory(0));
}

}  // namespace
}  // namespace cairn
