#include "cairn/stats.h"

#include <gtest/gtest.h>

#include <cstring>
#include <type_traits>

namespace cairn {
namespace {

// All members are 64-bit numbers without gaps, so each can be reached, also those added later.
static_assert(std::is_trivially_copyable_v<DeviceStats>);
static_assert(std::has_unique_object_representations_v<DeviceStats>);

TEST(Stats, EqualMeansEqualInEveryNumber) {
  const DeviceStats zero;
  EXPECT_EQ(zero, DeviceStats{});
  for (std::size_t offset = 0; offset < sizeof(DeviceStats); offset += sizeof(std::int64_t)) {
    DeviceStats other;
    const std::int64_t one = 1;
    std::memcpy(reinterpret_cast<char*>(&other) + offset, &one, sizeof one);
    EXPECT_NE(other, zero) << "number at offset " << offset;
    EXPECT_EQ(other, other);
  }
}

}  // namespace
}  // namespace cairn
