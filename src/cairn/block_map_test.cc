#include "cairn/block_map.h"

#include <gtest/gtest.h>

namespace cairn {
namespace {

TEST(BlockMap, StatesHavePyTorchsWords) {
  EXPECT_STREQ(to_string(BlockState::active_allocated), "active_allocated");
  EXPECT_STREQ(to_string(BlockState::active_pending_free), "active_pending_free");
  EXPECT_STREQ(to_string(BlockState::inactive), "inactive");
}

}  // namespace
}  // namespace cairn
