// When the host has no memory left, wherever that comes, a function of C says so and throws
// nothing. Here every single allocation of host memory that a call makes fails once.
#include <gtest/gtest.h>

#include <cstdint>

#include "allocator/counting_driver.h"
#include "cairn/allocator.h"
#include "cairn/c_handle.h"
#include "cairn/cairn.h"
#include "testing/host_memory_in_test.h"

namespace cairn {
namespace {

class CHostMemory : public testing::Test {
 protected:
  ~CHostMemory() override { cairn_allocator_destroy(handle_); }

  // Lets the 1st, the 2nd, ... allocation of the call fail, until it makes no more.
  template <class Call>
  static void every_want_is_told(Call&& call, cairn_error otherwise) {
    for (int nth = 1;; ++nth) {
      allocations_until_failure = nth;
      const cairn_error error = call();
      const bool has_failed = allocations_until_failure == 0;
      allocations_until_failure = 0;
      if (!has_failed) {
        EXPECT_EQ(error, otherwise);
        EXPECT_GT(nth, 1) << "the call allocates nothing";
        return;
      }
      ASSERT_EQ(error, CAIRN_OUT_OF_HOST_MEMORY) << nth;
      EXPECT_EQ(cairn_last_failure()->code, CAIRN_OUT_OF_HOST_MEMORY);
      EXPECT_STRNE(cairn_last_error_message(), "");
    }
  }

  CountingDriver driver_{Bytes{std::uint64_t{1} << 30}};
  Allocator allocator_{driver_};
  cairn_allocator* handle_ = make_c_handle(allocator_);
};

TEST_F(CHostMemory, ThereIsNoneForABlock) {
  const cairn_request request{1 << 20, 0, nullptr, 0};
  void* pointer = nullptr;
  every_want_is_told([&] { return cairn_allocate(handle_, &request, &pointer); }, CAIRN_OK);
  EXPECT_NE(pointer, nullptr);
}

TEST_F(CHostMemory, ThereIsNoneForAMessage) {
  every_want_is_told([&] { return cairn_free(handle_, this); }, CAIRN_INVALID_ARGUMENT);
  every_want_is_told([&] { return cairn_get_stats(nullptr, 0, nullptr); }, CAIRN_INVALID_ARGUMENT);
  every_want_is_told([&] { return cairn_reconfigure(handle_, "nonsense:1"); },
                     CAIRN_INVALID_ARGUMENT);
}

TEST_F(CHostMemory, ThereIsNoneForAReport) {
  driver_.set_processes({{7, Bytes{512}}});
  const cairn_request request{std::size_t{3} << 30, 0, nullptr, 0};
  void* pointer = nullptr;
  every_want_is_told([&] { return cairn_allocate(handle_, &request, &pointer); },
                     CAIRN_OUT_OF_MEMORY);
  EXPECT_EQ(cairn_last_failure()->memory->process_count, 1U);
}

TEST_F(CHostMemory, ThereIsNoneForTheListOfBlocks) {
  void* const block = allocator_.allocate({512});
  const auto visitor = [](const cairn_block_info*, void*) {};
  every_want_is_told([&] { return cairn_visit_blocks(handle_, 0, visitor, nullptr); }, CAIRN_OK);
  allocator_.free(block);
}

}  // namespace
}  // namespace cairn
