// The climb when nothing cached fits: its rungs in order, and what each failure leaves behind.
#include "allocator/retry_ladder.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address seg(std::uint64_t number) { return ScriptedDriver::segment(number); }

Options with_max_split(Bytes max_split) {
  Options options;
  options.max_split_size_bytes = max_split.count;
  return options;
}

// Live: 1000 bytes in #1, 3 MiB in #2, on s0. Cached, all of s1: #3 12 MiB, #4 small, #5 14 MiB.
class RetryLadderTest : public testing::Test {
 protected:
  RetryLadderTest() {
    device_.allocate(1000_B);
    device_.allocate(3_MiB);
    const Address large = device_.allocate(12_MiB, s1);
    const Address small = device_.allocate(1_MiB, s1);
    const Address other = device_.allocate(14_MiB, s1);
    for (const Address address : {large, small, other}) device_.free(address);
    device_.driver().calls();
    live_ = device_.live();
    stats_ = device_.stats();
  }
  Calls calls() { return device_.driver().calls(); }
  void expect_error(const Result<Address, Error>& result, ErrorCode code, CudaStatus status) {
    EXPECT_EQ(error_of(result).code, code) << error_of(result).message;
    EXPECT_EQ(error_of(result).cuda_code, static_cast<int>(status));
    EXPECT_EQ(device_.live(), live_);
  }

  DeviceInTest device_;
  LiveBlocks live_;
  DeviceStats stats_;
};

TEST_F(RetryLadderTest, AHitDoesNotAskTheDriver) {
  EXPECT_EQ(device_.allocate(12_MiB, s1), seg(3));
  EXPECT_EQ(calls(), Calls{});
  EXPECT_EQ(device_.stats().num_device_alloc, 5);
}

TEST_F(RetryLadderTest, AMissAsksForASegment) {
  EXPECT_EQ(device_.allocate(30_MiB), seg(6));
  EXPECT_EQ(calls(), Calls{"malloc 0 30MiB"});
  EXPECT_EQ(device_.stats().num_device_alloc, 6);
  EXPECT_EQ(device_.stats().num_alloc_retries, 0);
}

TEST_F(RetryLadderTest, WithoutMemoryTheCacheGoesBackAndTheDriverIsAskedAgain) {
  device_.driver().answer({oom});
  EXPECT_EQ(device_.allocate(30_MiB), seg(6));
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s0x51", "free 0 #3", "free 0 #5",
                            "free 0 #4", "malloc 0 30MiB"}));
  const DeviceStats stats = device_.stats();
  EXPECT_EQ(stats.num_alloc_retries, 1);
  EXPECT_EQ(stats.num_ooms, 0);
  EXPECT_EQ(stats.num_device_alloc, 6);
  EXPECT_EQ(stats.num_device_free, 3);
  EXPECT_EQ(stats.segment.all, (Stat{3, 5, 6, 3}));
  EXPECT_EQ(device_.segments(), (std::vector{seg(1), seg(2), seg(6)}));
}

TEST_F(RetryLadderTest, OutOfMemoryInTheEnd) {
  device_.driver().answer(DriverCall::malloc, {oom, oom});
  const auto result = device_.try_allocate(30_MiB);
  expect_error(result, ErrorCode::out_of_memory, oom);
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s0x51", "free 0 #3", "free 0 #5",
                            "free 0 #4", "malloc 0 30MiB", "mem_info 0"}));
  EXPECT_EQ(device_.segments(), (std::vector{seg(1), seg(2)}));
  EXPECT_EQ(device_.stats().num_ooms, 1);
  EXPECT_EQ(device_.stats().num_alloc_retries, 1);
  EXPECT_EQ(device_.stats().num_device_alloc, 5);
  EXPECT_EQ(device_.stats().allocation.all, stats_.allocation.all);
}

// Tried: the segment, not the request. 1000 bytes and 3 MiB are live in 2 and 20 MiB.
TEST_F(RetryLadderTest, TheMessageSaysWhatWasTriedAndWhatThereIs) {
  device_.driver().answer(DriverCall::malloc, {oom, oom});
  const auto result = device_.try_allocate(19_MiB - 5_B);
  const std::string message = error_of(result).message;
  for (const char* words : {"20.00 MiB", "19922939 bytes", "GPU 0", "80.00 GiB", "3.00 GiB"}) {
    EXPECT_NE(message.find(words), std::string::npos) << words << " in: " << message;
  }
  const std::string sums = "3.00 MiB is allocated, and 19.00 MiB is reserved but unallocated";
  EXPECT_NE(message.find(sums), std::string::npos) << message;
}

TEST_F(RetryLadderTest, WithoutMemoryInfoItIsOutOfMemoryAllTheSame) {
  device_.driver().answer(DriverCall::malloc, {oom, oom});
  device_.driver().answer(DriverCall::mem_info, {refused});
  const auto result = device_.try_allocate(30_MiB);
  expect_error(result, ErrorCode::out_of_memory, oom);
  EXPECT_EQ(error_of(result).message.find("capacity"), std::string::npos);
  EXPECT_EQ(device_.stats().num_ooms, 1);
}

TEST_F(RetryLadderTest, AnyOtherErrorEndsTheClimbAtOnce) {
  device_.driver().answer({refused});
  const auto result = device_.try_allocate(30_MiB);
  expect_error(result, ErrorCode::cuda_error, refused);
  EXPECT_EQ(calls(), Calls{"malloc 0 30MiB"});
  EXPECT_EQ(device_.stats(), stats_);
  for (const char* words : {"malloc of 30.00 MiB", "device 0", "unknown", "999"}) {
    EXPECT_NE(error_of(result).message.find(words), std::string::npos) << error_of(result).message;
  }
}

TEST_F(RetryLadderTest, AlsoWhenItComesAtTheSecondAsking) {
  device_.driver().answer(DriverCall::malloc, {oom, refused});
  expect_error(device_.try_allocate(30_MiB), ErrorCode::cuda_error, refused);
  EXPECT_EQ(calls().size(), 6U);
  EXPECT_EQ(device_.stats().num_alloc_retries, 1);
  EXPECT_EQ(device_.stats().num_ooms, 0);
}

// The cache goes back as #3, #5, #4. What the driver refuses stays, and so does the rest.
TEST_F(RetryLadderTest, ASegmentThatTheDriverRefusesStaysAndSoDoesTheRest) {
  const std::vector<std::vector<Address>> stay{{seg(1), seg(2), seg(3), seg(4), seg(5)},
                                               {seg(1), seg(2), seg(4), seg(5)},
                                               {seg(1), seg(2), seg(4)}};
  for (std::size_t nth = 0; nth < stay.size(); ++nth) {
    DeviceInTest device;
    device.allocate(1000_B);
    device.allocate(3_MiB);
    const Address large = device.allocate(12_MiB, s1);
    const Address small = device.allocate(1_MiB, s1);
    const Address other = device.allocate(14_MiB, s1);
    for (const Address address : {large, small, other}) device.free(address);
    device.driver().calls();

    device.driver().answer(DriverCall::malloc, {oom});
    std::vector<CudaStatus> answers(nth, ok);
    answers.push_back(refused);
    device.driver().answer(DriverCall::free, answers);
    const auto result = device.try_allocate(30_MiB);
    EXPECT_EQ(error_of(result).code, ErrorCode::cuda_error);
    EXPECT_NE(error_of(result).message.find("free of "), std::string::npos);
    EXPECT_EQ(device.driver().calls().size(), nth + 3);
    EXPECT_EQ(device.segments(), stay[nth]);
    EXPECT_EQ(device.live(), live_);
    const DeviceStats stats = device.stats();
    EXPECT_EQ(stats.num_alloc_retries, 0);
    EXPECT_EQ(stats.num_device_free, static_cast<std::int64_t>(nth));
    EXPECT_EQ(stats.segment.all.current, static_cast<std::int64_t>(5 - nth));
    EXPECT_EQ(stats.allocation, stats_.allocation);
    EXPECT_EQ(stats.requested_bytes, stats_.requested_bytes);

    EXPECT_TRUE(device.try_allocate(30_MiB));  // It goes on as if nothing had been.
  }
}

TEST_F(RetryLadderTest, EmptyCacheIsTheLastRungAlone) {
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), (Calls{"stream_sync 0 s0x51", "free 0 #3", "free 0 #5", "free 0 #4"}));
  EXPECT_EQ(device_.stats().num_alloc_retries, 0);
  EXPECT_EQ(device_.stats().num_sync_all_streams, 1);
  EXPECT_EQ(device_.live(), live_);
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), Calls{});
}

TEST_F(RetryLadderTest, EmptyCacheStopsWhereTheDriverRefuses) {
  device_.driver().answer(DriverCall::free, {ok, refused});
  const auto result = device_.empty_cache();
  EXPECT_EQ(error_of(result).code, ErrorCode::cuda_error);
  EXPECT_EQ(error_of(result).cuda_code, 999);
  EXPECT_EQ(calls(), (Calls{"stream_sync 0 s0x51", "free 0 #3", "free 0 #5"}));
  EXPECT_EQ(device_.segments(), (std::vector{seg(1), seg(2), seg(4), seg(5)}));
  EXPECT_EQ(device_.live(), live_);
}

TEST_F(RetryLadderTest, MemoryThatIsNotAlignedAsAskedStaysCached) {
  device_.driver().next_address(Address{0x7e0000000200});
  const auto result = device_.try_allocate(30_MiB, s0, 2_MiB);
  expect_error(result, ErrorCode::unsupported, CudaStatus::success);
  for (const char* words : {"0x7e0000000200", "device 0", "2097152"}) {
    EXPECT_NE(error_of(result).message.find(words), std::string::npos) << error_of(result).message;
  }
  EXPECT_EQ(device_.stats().num_device_alloc, 6);
  EXPECT_EQ(device_.stats().segment.all.current, 6);
  calls();
  EXPECT_EQ(device_.allocate(30_MiB), Address{0x7e0000000200});
  EXPECT_EQ(calls(), Calls{});
}

// --- with max_split_size, the rung of oversize segments ---

// Cached: #1 40 MiB, #2 24 MiB, #3 small.
class OversizeRungTest : public testing::Test {
 protected:
  OversizeRungTest() {
    const Address large = device_.allocate(40_MiB);
    const Address medium = device_.allocate(24_MiB);
    const Address small = device_.allocate(1_KiB);
    for (const Address address : {large, medium, small}) device_.free(address);
    device_.driver().calls();
  }
  Calls calls() { return device_.driver().calls(); }

  DeviceInTest device_{with_max_split(20_MiB)};
};

TEST_F(OversizeRungTest, OneThatIsEnoughGoesBackAlone) {
  device_.driver().answer({oom});
  device_.allocate(2_MiB);
  EXPECT_EQ(calls(),
            (Calls{"malloc 0 20MiB", "stream_sync 0 s0x1", "free 0 #2", "malloc 0 20MiB"}));
  EXPECT_EQ(device_.stats().num_alloc_retries, 0);
  EXPECT_EQ(device_.stats().num_device_free, 1);
}

TEST_F(OversizeRungTest, SeveralThatAreEnough) {
  device_.driver().answer({oom});
  device_.allocate(64_MiB);
  EXPECT_EQ(calls(), (Calls{"malloc 0 64MiB", "stream_sync 0 s0x1", "free 0 #1", "free 0 #2",
                            "malloc 0 64MiB"}));
  EXPECT_EQ(device_.stats().num_alloc_retries, 0);
}

TEST_F(OversizeRungTest, WhereTheyAreNotEnoughTheNextRungAsks) {
  device_.driver().answer({oom});
  device_.allocate(66_MiB);
  EXPECT_EQ(calls(), (Calls{"malloc 0 66MiB", "stream_sync 0 s0x1", "free 0 #1", "free 0 #2",
                            "free 0 #3", "malloc 0 66MiB"}));
  EXPECT_EQ(device_.stats().num_alloc_retries, 1);
}

TEST_F(OversizeRungTest, WhereTheDriverHasStillNothingAllGoesBack) {
  device_.driver().answer(DriverCall::malloc, {oom, oom, oom});
  const auto result = device_.try_allocate(2_MiB);
  EXPECT_EQ(error_of(result).code, ErrorCode::out_of_memory);
  EXPECT_EQ(calls(), (Calls{"malloc 0 20MiB", "stream_sync 0 s0x1", "free 0 #2", "malloc 0 20MiB",
                            "free 0 #1", "free 0 #3", "malloc 0 20MiB", "mem_info 0"}));
  EXPECT_EQ(device_.segments(), std::vector<Address>{});
}

// The seven calls before mem_info of the climb above, each failing in its turn.
TEST_F(OversizeRungTest, AFailureAtAnyCallEndsTheClimbThere) {
  const std::vector<CudaStatus> climb{oom, ok, ok, oom, ok, ok, oom};
  for (std::size_t nth = 0; nth < climb.size(); ++nth) {
    DeviceInTest device(with_max_split(20_MiB));
    const Address large = device.allocate(40_MiB);
    const Address medium = device.allocate(24_MiB);
    const Address small = device.allocate(1_KiB);
    device.allocate(30_MiB, s1);
    for (const Address address : {large, medium, small}) device.free(address);
    const LiveBlocks live = device.live();
    device.driver().calls();
    std::vector<CudaStatus> answers(climb.begin(), climb.begin() + static_cast<long>(nth));
    answers.push_back(refused);
    device.driver().answer(answers);
    const auto result = device.try_allocate(2_MiB);
    EXPECT_EQ(error_of(result).code, ErrorCode::cuda_error) << nth;
    EXPECT_EQ(device.driver().calls().size(), nth + 1);
    EXPECT_EQ(device.live(), live);
    EXPECT_EQ(device.stats().num_ooms, 0);
    EXPECT_EQ(device.stats().num_alloc_retries, nth == 6 ? 1 : 0);
    EXPECT_TRUE(device.try_allocate(2_MiB));
  }
}

// What no driver may give is not made a segment, and what was live stays so.
TEST_F(RetryLadderTest, MemoryThatCannotBeIsRefused) {
  const Address top{~std::uint64_t{0} - (1_MiB).count + 1};
  for (const Address lie : {Address{}, seg(2), seg(2) + 2_MiB, seg(9) + 256_B, top}) {
    device_.driver().next_address(lie);
    const auto result = device_->allocate({s0, 20_MiB, block_granularity});
    EXPECT_EQ(error_of(result).code, ErrorCode::cuda_error) << lie.value;
    EXPECT_EQ(device_.live(), live_);
    EXPECT_EQ(device_.segments().size(), 5U);
    EXPECT_EQ(device_.stats().reserved_bytes.all.current, stats_.reserved_bytes.all.current);
  }
}

// Streams come and go: what they had of a pool goes with their last segment.
TEST_F(RetryLadderTest, AStreamWithoutMemoryIsForgotten) {
  const auto shares = [&] {
    return device_->inspect([](const Heap& heap) {
      return heap.pool(PoolKind::small).shares.size() + heap.pool(PoolKind::large).shares.size();
    });
  };
  ASSERT_EQ(shares(), 4U);
  for (std::uint64_t stream = 100; stream < 200; ++stream) {
    device_.free(device_.allocate(1_KiB, StreamId{stream}));
  }
  ASSERT_EQ(shares(), 104U);
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(shares(), 2U);
}

}  // namespace
}  // namespace cairn
