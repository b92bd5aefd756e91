#include "driver/cuda_status.h"

#include <gtest/gtest.h>

#include <set>

namespace cairn {
namespace {

TEST(CudaStatus, CodesHaveTheNamesOfCudaH) {
  EXPECT_EQ(to_string(CudaStatus::success), "success");
  EXPECT_EQ(to_string(CudaStatus::out_of_memory), "out_of_memory");
  EXPECT_EQ(to_string(CudaStatus{4}), "deinitialized");
  EXPECT_EQ(to_string(CudaStatus::illegal_address), "illegal_address");
  EXPECT_EQ(to_string(CudaStatus{719}), "launch_failed");
  EXPECT_EQ(to_string(CudaStatus{900}), "stream_capture_unsupported");
  EXPECT_EQ(to_string(CudaStatus::unknown), "unknown");
}

TEST(CudaStatus, EveryNameLeadsBackToItsCode) {
  int named = 0;
  for (int code = -1; code <= 1000; ++code) {
    const CudaStatus status{code};
    if (to_string(status) == "unrecognized") continue;
    ++named;
    EXPECT_EQ(cuda_status_from(to_string(status)), status) << code;
  }
  EXPECT_EQ(named, 101);
}

TEST(CudaStatus, UnsupportedIsAnotherWordForNotSupported) {
  EXPECT_EQ(cuda_status_from("unsupported"), CudaStatus::not_supported);
  EXPECT_EQ(cuda_status_from("not_supported"), CudaStatus::not_supported);
}

TEST(CudaStatus, OtherCodesAndNamesAreNotRecognized) {
  EXPECT_EQ(to_string(CudaStatus{-1}), "unrecognized");
  EXPECT_EQ(to_string(CudaStatus{1000}), "unrecognized");
  for (const char* name : {"", "unrecognized", "Out_of_memory", "cuda_error_out_of_memory"})
    EXPECT_EQ(cuda_status_from(name), std::nullopt) << name;
}

// The list of src/allocator/README.md.
TEST(CudaStatus, TheseCodesAndNoOthersLoseTheDevice) {
  std::set<int> sticky{201, 214, 220, 226, 700, 702, 709, 710, 721, 911};
  for (int code = 714; code <= 719; ++code) sticky.insert(code);
  for (int code = 805; code <= 810; ++code) sticky.insert(code);
  for (int code = -1; code <= 1000; ++code) {
    EXPECT_EQ(is_sticky(CudaStatus{code}), sticky.contains(code)) << code;
  }
  for (const int code : sticky) EXPECT_NE(to_string(CudaStatus{code}), "unrecognized") << code;
}

}  // namespace
}  // namespace cairn
