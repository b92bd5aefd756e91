// What a build without a CUDA Toolkit says, seen in every build.
#include <gtest/gtest.h>

#include "driver/cuda_driver.h"

namespace cairn {
namespace {

TEST(NoCudaDriver, SaysHowToGetOne) {
  const auto driver = open_cuda_driver();
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::unsupported);
  EXPECT_NE(driver.error().message.find("built without the CUDA Toolkit"), std::string::npos);
}

}  // namespace
}  // namespace cairn
