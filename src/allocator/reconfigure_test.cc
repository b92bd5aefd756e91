// Settings that change while the allocator works.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

constexpr std::size_t mib = 1 << 20;

class ReconfigureTest : public testing::Test {
 protected:
  std::string unsupported(const char* text) {
    try {
      allocator_.reconfigure(text);
    } catch (const Unsupported& error) {
      return error.what();
    }
    ADD_FAILURE() << text << " was not refused";
    return {};
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_};
};

TEST_F(ReconfigureTest, SizesChangeForAllDevices) {
  allocator_.reconfigure("large_segment_size_mb:32,roundup_power2_divisions:4");
  allocator_.allocate({2 * mib, 0});
  allocator_.allocate({33 * mib, 1});
  EXPECT_EQ(driver_.calls(), (Calls{"malloc 0 32MiB", "malloc 1 40MiB"}));
}

TEST_F(ReconfigureTest, WhatTheTextDoesNotNameStaysOrGoesBackAsInPyTorch) {
  allocator_.reconfigure("large_segment_size_mb:32,max_split_size_mb:64");
  EXPECT_EQ(allocator_.stats(0).max_split_size_bytes, 64 * mib);
  allocator_.reconfigure("");
  EXPECT_EQ(allocator_.stats(0).max_split_size_bytes, Options::unlimited);
  allocator_.allocate({2 * mib, 0});
  EXPECT_EQ(driver_.calls(), Calls{"malloc 0 32MiB"});
}

TEST_F(ReconfigureTest, BadTextChangesNothing) {
  allocator_.reconfigure("max_split_size_mb:64");
  for (const char* text : {"max_split_size_mb:1", "max_split_size_mb", "nonsense:1",
                           "max_split_size_mb:32,large_segment_size_mb:x"}) {
    EXPECT_THROW(allocator_.reconfigure(text), InvalidArgument) << text;
    EXPECT_EQ(allocator_.stats(1).max_split_size_bytes, 64 * mib);
  }
}

TEST_F(ReconfigureTest, BadTextIsNoFailureOfCuda) {
  try {
    allocator_.reconfigure("nonsense:1");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.error().cuda_code, 0);
  }
}

TEST_F(ReconfigureTest, WhatCannotChangeIsRefusedWhole) {
  EXPECT_NE(unsupported("max_split_size_mb:64,best_fit_tie:address").find("best_fit_tie"),
            std::string::npos);
  EXPECT_NE(unsupported("stream_identity:id").find("stream_identity"), std::string::npos);
  EXPECT_NE(unsupported("pytorch_defects:True").find("pytorch_defects"), std::string::npos);
  EXPECT_NE(unsupported("expandable_segments:True").find("expandable_segments"), std::string::npos);
  EXPECT_NE(unsupported("backend:cudaMallocAsync").find("backend"), std::string::npos);
  unsupported("pinned_use_cuda_host_register:True");
  EXPECT_EQ(allocator_.stats(0).max_split_size_bytes, Options::unlimited);
}

TEST_F(ReconfigureTest, WhatDoesNotChangeMayBeNamed) {
  allocator_.reconfigure("stream_identity:handle,best_fit_tie:segment,max_split_size_mb:64");
  EXPECT_EQ(allocator_.stats(0).max_split_size_bytes, 64 * mib);
}

// `current` is a recount; what it differs by goes to `allocated` or `freed`.
TEST_F(ReconfigureTest, WhatIsOversizeIsCountedAnew) {
  allocator_.allocate({40 * mib});
  allocator_.allocate({24 * mib});
  allocator_.free(allocator_.allocate({64 * mib}));
  allocator_.reconfigure("max_split_size_mb:32");
  EXPECT_EQ(allocator_.stats(0).oversize_allocations, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(allocator_.stats(0).oversize_segments, (Stat{2, 2, 2, 0}));
  allocator_.reconfigure("max_split_size_mb:22");
  EXPECT_EQ(allocator_.stats(0).oversize_allocations, (Stat{2, 2, 2, 0}));
  allocator_.reconfigure("");
  EXPECT_EQ(allocator_.stats(0).oversize_allocations, (Stat{0, 2, 2, 2}));
  EXPECT_EQ(allocator_.stats(0).oversize_segments, (Stat{0, 3, 3, 3}));
}

TEST_F(ReconfigureTest, TheFractionMovesTheBorderOfRejectionsAlone) {
  allocator_.reconfigure("per_process_memory_fraction:0.5,throw_on_cudamalloc_oom:True");
  EXPECT_EQ(allocator_.memory_fraction(0), 1.0);
  Error why;
  EXPECT_EQ(allocator_.try_allocate({std::size_t{41} << 30}, &why), nullptr);
  EXPECT_EQ(why.code, ErrorCode::rejected);
  allocator_.reconfigure("throw_on_cudamalloc_oom:False");
  EXPECT_NE(allocator_.allocate({std::size_t{41} << 30}), nullptr);
}

TEST_F(ReconfigureTest, GarbageIsCollectedFromThenOn) {
  allocator_.set_memory_fraction(0, 50.0 / (80 << 10));  // 50 MiB
  allocator_.free(allocator_.allocate({40 * mib}));
  driver_.calls();
  allocator_.reconfigure("garbage_collection_threshold:0.5");
  allocator_.allocate({1000});
  EXPECT_EQ(driver_.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "malloc 0 2MiB"}));
  allocator_.free(allocator_.allocate({40 * mib}));
  driver_.calls();
  allocator_.reconfigure("");
  allocator_.allocate({2 * mib - 1000});
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST_F(ReconfigureTest, TheLockIsReleasedFromThenOn) {
  const auto look = [&] { EXPECT_EQ(allocator_.stats(0).allocation.all.current, 0); };
  allocator_.reconfigure("release_lock_on_cudamalloc:True");
  driver_.during_malloc(look);  // With the lock held it would wait for ever.
  EXPECT_NE(allocator_.allocate({1000}), nullptr);
}

}  // namespace
}  // namespace cairn
