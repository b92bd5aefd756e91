// Short memory: limits, early rejection, garbage collection, and what goes back in what order.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "allocator/all_devices.h"
#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address seg(std::uint64_t number) { return ScriptedDriver::segment(number); }

Options options_of(const char* text) {
  const ParsedSettings parsed = parse_settings(text);
  EXPECT_TRUE(parsed.ok) << parsed.error.message;
  return parsed.options;
}

// A device of 100 MiB.
class Small : public DeviceInTest {
 public:
  explicit Small(const char* settings = "") : DeviceInTest(options_of(settings), 1, 100_MiB) {}

  // Segments of so many MiB on s0, which are cached then.
  void cache(const std::vector<std::uint64_t>& sizes_mib, StreamId stream = s0) {
    std::vector<Address> blocks;
    for (const std::uint64_t size : sizes_mib) blocks.push_back(allocate(1_MiB * size, stream));
    for (const Address block : blocks) free(block);
    calls();
  }
};

// --- the limit ---

TEST(Limit, AtItTheDriverIsAskedAndAboveItNot) {
  Small device;
  device->set_memory_fraction(0.5);
  device.allocate(30_MiB);
  device.allocate(20_MiB);
  device.calls();
  const Error error = error_of(device.try_allocate(1_KiB));
  EXPECT_EQ(error.code, ErrorCode::out_of_memory);
  EXPECT_EQ(error.memory->limit_bytes, (50_MiB).count);
  EXPECT_EQ(device.calls(), Calls{"mem_info 0"});
  EXPECT_EQ(device.stats().num_alloc_retries, 1);
  EXPECT_EQ(device.stats().num_ooms, 1);
}

TEST(Limit, OneByteTooFewIsTooFew) {
  Small device;
  device.allocate(30_MiB);
  device->set_memory_fraction(0.5 - 1.0 / (100 << 20));
  device.calls();
  EXPECT_TRUE(device.try_allocate(20_MiB).failed());
  EXPECT_EQ(device.calls(), Calls{"mem_info 0"});
}

TEST(Limit, IsRoundedToTheNearestByte) {
  for (const auto& [fraction, limit] : std::vector<std::pair<double, std::uint64_t>>{
           {0.25, 25}, {0.245, 25}, {0.244, 24}, {0.0, 0}, {0.999, 100}}) {
    DeviceInTest device({}, 1, Bytes{100});
    device->set_memory_fraction(fraction);
    const auto set = device->inspect([](const DeviceState& state) { return state.limit; });
    EXPECT_EQ(set, Bytes{limit}) << fraction;
    EXPECT_DOUBLE_EQ(device->memory_fraction(), static_cast<double>(limit) / 100);
  }
}

TEST(Limit, ItCanBeSetAndRemovedWhileMemoryIsHeld) {
  Small device;
  const Address held = device.allocate(60_MiB);
  device->set_memory_fraction(0.5);
  EXPECT_TRUE(device.try_allocate(1_KiB).failed());
  EXPECT_EQ(device.segments(), std::vector{seg(1)});  // What is held stays.
  device.free(held);
  EXPECT_EQ(device.allocate(60_MiB), held);  // And serves.
  device->set_memory_fraction(1.0);
  EXPECT_EQ(device->memory_fraction(), 1.0);
  device.calls();
  device.allocate(40_MiB);
  EXPECT_EQ(device.calls(), Calls{"malloc 0 40MiB"});
}

TEST(Limit, WhatIsCachedMakesRoom) {
  Small device;
  device->set_memory_fraction(0.5);
  device.cache({40});
  device.allocate(30_MiB, s1);
  EXPECT_EQ(device.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "malloc 0 30MiB"}));
  EXPECT_EQ(device.stats().num_alloc_retries, 1);
}

TEST(Limit, TheFractionOfTheSettingsIsItAtTheStart) {
  Small device("per_process_memory_fraction:0.5");
  EXPECT_EQ(device->memory_fraction(), 0.5);
  EXPECT_TRUE(device.try_allocate(60_MiB).failed());
  EXPECT_EQ(device.calls(), Calls{"mem_info 0"});
}

TEST(Limit, AFractionIsFromZeroToOneOfADeviceThatIsThere) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  for (const double fraction : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN(),
                                std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(allocator.set_memory_fraction(0, fraction), InvalidArgument) << fraction;
  }
  EXPECT_THROW(allocator.set_memory_fraction(1, 0.5), InvalidArgument);
  EXPECT_THROW(static_cast<void>(allocator.memory_fraction(1)), InvalidArgument);
  EXPECT_EQ(allocator.memory_fraction(0), 1.0);
  allocator.set_memory_fraction(0, 0.0);
  EXPECT_THROW(allocator.allocate({1}), OutOfMemory);
}

TEST(Limit, WhatIsJustAboveOneIsToldInAllDigits) {
  ScriptedDriver driver;
  AllDevices devices(driver, {});
  const Error error = error_of(devices.set_memory_fraction(0, std::nextafter(1.0, 2.0)));
  EXPECT_NE(error.message.find("1.0000000000000002"), std::string::npos) << error.message;
}

// --- early rejection ---

TEST(Rejection, AboveTheFractionOfTheSettingsNothingElseIsTried) {
  Small device("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5");
  device->set_memory_fraction(1.0);  // Moves the limit, not the border of rejections.
  device.cache({40});
  const DeviceStats before = device.stats();
  const Error error = error_of(device.try_allocate(20_MiB, s1));
  EXPECT_EQ(error.code, ErrorCode::rejected);
  EXPECT_EQ(error.cuda_code, 0);
  EXPECT_EQ(device.calls(), Calls{});
  EXPECT_EQ(device.stats().num_oom_rejections, 1);
  EXPECT_EQ(device.stats().num_ooms, 0);
  EXPECT_EQ(device.stats().num_alloc_retries, 0);
  EXPECT_EQ(device.stats().reserved_bytes, before.reserved_bytes);
  device.allocate(10_MiB, s1);  // The segment is 10 MiB: just 50.
  EXPECT_EQ(device.calls(), Calls{"malloc 0 10MiB"});
}

TEST(Rejection, TheLimitComesFirst) {
  Small device("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5");
  const Error error = error_of(device.try_allocate(60_MiB));
  EXPECT_EQ(error.code, ErrorCode::out_of_memory);
  EXPECT_EQ(device.stats().num_oom_rejections, 0);
}

TEST(Rejection, AlsoWhenTheDriverIsAskedForTheLastTime) {
  Small device("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5");
  device.driver().answer(DriverCall::malloc, {oom});
  const CallbackId raise = device.callbacks().add([&](int) { return false; });
  EXPECT_TRUE(device.try_allocate(50_MiB));
  device.callbacks().remove(raise);
  EXPECT_EQ(device.stats().num_alloc_retries, 1);
}

// --- garbage ---

// Ages by hand. The limit is 50 MiB, its half 25 MiB.
class GarbageTest : public testing::Test {
 protected:
  GarbageTest() { device_->set_memory_fraction(0.5); }
  // A search of the large pool that finds something: all its free blocks, but for that one, are
  // older by one then.
  void search(StreamId stream) {
    const Address address = device_.allocate(1_MiB + 1_KiB, stream);
    device_.free(address);
  }

  Small device_{"garbage_collection_threshold:0.5"};
};

TEST_F(GarbageTest, UpToTheThresholdNothingIsCollected) {
  device_->set_memory_fraction(0.48);
  device_.cache({24});
  device_.allocate(20_MiB, s1);
  EXPECT_EQ(device_.calls(), Calls{"malloc 0 20MiB"});
}

// 46 MiB are held, 21 too many. Ages 6, 0 and 1 in free order: the average is 2.3, and 0.5 once the
// first is gone.
TEST_F(GarbageTest, AboveItTheOldGoBackUntilItIsReached) {
  device_->set_memory_fraction(1.0);  // As long as this is so no search counts.
  device_.cache({12});
  device_.cache({20}, s3);
  device_.cache({14}, s2);
  device_->set_memory_fraction(0.5);
  for (int i = 0; i < 5; ++i) search(s3);
  search(s2);
  device_.allocate(1_KiB, s1);
  EXPECT_EQ(device_.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "stream_sync 0 s0x53",
                                    "free 0 #2", "malloc 0 2MiB"}));
}

TEST_F(GarbageTest, APassGoesOnPastTheTarget) {
  device_.cache({12, 13, 14});  // All of one age.
  device_.allocate(1_KiB, s1);
  EXPECT_EQ(device_.calls(),
            (Calls{"stream_sync 0 s0x1", "free 0 #1", "free 0 #2", "free 0 #3", "malloc 0 2MiB"}));
}

TEST_F(GarbageTest, WhatIsSplitOrLiveOrSmallIsNoGarbage) {
  const Address split = device_.allocate(11_MiB);
  device_.free(split);
  device_.allocate(2_MiB);  // Of #1.
  device_.allocate(16_MiB);
  device_.free(device_.allocate(1_KiB));
  device_.calls();
  device_.allocate(12_MiB, s1);
  EXPECT_EQ(device_.calls(), Calls{"malloc 0 12MiB"});
}

TEST_F(GarbageTest, ItIsOffWithoutALimit) {
  device_->set_memory_fraction(1.0);
  device_.cache({12, 13, 14});
  device_.allocate(1_KiB, s1);
  EXPECT_EQ(device_.calls(), Calls{"malloc 0 2MiB"});
}

// Searches count only while a limit is set: then the first of each request, found or not.
TEST_F(GarbageTest, OnlyTheFirstSearchOfARequestCounts) {
  const auto searches = [&] {
    return device_->inspect([](const Heap& heap) { return heap.pool(PoolKind::large).searches; });
  };
  device_.driver().answer(DriverCall::malloc, {oom, oom});
  EXPECT_TRUE(device_.try_allocate(2_MiB).failed());  // Searches thrice.
  EXPECT_EQ(searches(), 1);
  device_.free(device_.allocate(2_MiB));
  EXPECT_EQ(searches(), 2);
  device_.allocate(1_KiB);  // The other pool.
  EXPECT_EQ(searches(), 2);
  device_->set_memory_fraction(1.0);
  device_.free(device_.allocate(2_MiB));
  EXPECT_EQ(searches(), 2);
  device_->set_memory_fraction(0.5);
  device_->reconfigure({});
  device_.free(device_.allocate(2_MiB));
  EXPECT_EQ(searches(), 2);
  device_->reconfigure(options_of("garbage_collection_threshold:0.5"));
  device_.free(device_.allocate(2_MiB));
  EXPECT_EQ(searches(), 3);
}

// Streams that come and go while there is always something to collect leave nothing behind.
TEST_F(GarbageTest, NothingIsKeptOfStreamsWhoseMemoryWentBack) {
  for (std::uint64_t n = 1; n <= 20; ++n) {
    const StreamId passing{0x100 + n};
    device_.free(device_.allocate(30_MiB, passing));
    EXPECT_TRUE(device_.forget(passing));
  }
  const auto streams =
      device_->inspect([](const Heap& heap) { return heap.pool(PoolKind::large).shares.size(); });
  EXPECT_EQ(streams, device_.segments().size());
}

TEST_F(GarbageTest, AFailureEndsTheRequest) {
  device_.cache({12, 13, 14});
  device_.driver().answer(DriverCall::free, {ok, refused});
  const Error error = error_of(device_.try_allocate(1_KiB, s1));
  EXPECT_EQ(error.code, ErrorCode::cuda_error);
  EXPECT_EQ(device_.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "free 0 #2"}));
  EXPECT_EQ(device_.segments(), (std::vector{seg(2), seg(3)}));
}

// --- release ---

// One wait for each stream, whatever the pool, in the order of segments.
TEST(ReleaseOrder, EachStreamIsWaitedForOnceBeforeItsFirstSegment) {
  DeviceInTest device;
  std::vector<Address> blocks;
  for (const StreamId stream : {s2, s1}) {
    for (const Bytes size : {12_MiB, 1_KiB, 14_MiB})
      blocks.push_back(device.allocate(size, stream));
  }
  for (const Address block : blocks) device.free(block);
  device.calls();
  EXPECT_TRUE(device.empty_cache());
  EXPECT_EQ(device.calls(),
            (Calls{"stream_sync 0 s0x51", "free 0 #4", "free 0 #6", "stream_sync 0 s0x52",
                   "free 0 #1", "free 0 #3", "free 0 #5", "free 0 #2"}));
}

TEST(ReleaseOrder, AStreamThatWasWaitedForIsNotAgainUntilABlockOfItBecomesFree) {
  DeviceInTest device;
  const Address first = device.allocate(12_MiB, s1);
  const Address second = device.allocate(13_MiB, s1);
  const Address small = device.allocate(1_KiB, s1);
  device.free(first);
  device.free(second);
  device.driver().answer(DriverCall::free, {refused});
  device.calls();
  EXPECT_TRUE(device.empty_cache().failed());
  EXPECT_EQ(device.calls(), (Calls{"stream_sync 0 s0x51", "free 0 #1"}));
  device.driver().answer(DriverCall::free, {ok, refused});
  EXPECT_TRUE(device.empty_cache().failed());
  EXPECT_EQ(device.calls(), (Calls{"free 0 #1", "free 0 #2"}));
  device.free(small);  // Of the other pool.
  device.calls();
  EXPECT_TRUE(device.empty_cache());
  EXPECT_EQ(device.calls(), (Calls{"stream_sync 0 s0x51", "free 0 #2", "free 0 #3"}));
}

TEST(ReleaseOrder, AWaitThatFailsEndsItThere) {
  DeviceInTest device;
  device.free(device.allocate(12_MiB, s1));
  device.driver().answer(DriverCall::stream_sync, {refused});
  device.calls();
  const Error error = error_of(device.empty_cache());
  EXPECT_NE(error.message.find("stream_sync of stream 0x51"), std::string::npos);
  EXPECT_EQ(device.calls(), Calls{"stream_sync 0 s0x51"});
  EXPECT_TRUE(device.empty_cache());  // And is made up for.
  EXPECT_EQ(device.calls(), (Calls{"stream_sync 0 s0x51", "free 0 #1"}));
}

TEST(ReleaseOrder, AStreamThatIsGoneIsWaitedForWithItsDevice) {
  DeviceInTest device;
  device.free(device.allocate(12_MiB, s1));
  device.driver().answer(DriverCall::stream_sync, {no_stream});
  device.calls();
  EXPECT_TRUE(device.empty_cache());
  EXPECT_EQ(device.calls(), (Calls{"stream_sync 0 s0x51", "device_sync 0", "free 0 #1"}));
}

// Oversize segments go first; what is pending is waited for, and searched; then all goes.
TEST(ReleaseOrder, TheWholeLadder) {
  DeviceInTest device(options_of("max_split_size_mb:20"));
  const Address oversize = device.allocate(30_MiB);
  const Address large = device.allocate(12_MiB);
  const Address waiting = device.allocate_used(12_MiB, s0, {s1});
  const Address small = device.allocate(1_KiB, s2);
  for (const Address address : {oversize, large, waiting, small}) device.free(address);
  device.driver().answer(DriverCall::malloc, {oom, oom, oom});
  device.calls();
  EXPECT_TRUE(device.try_allocate(14_MiB).failed());
  EXPECT_EQ(
      device.calls(),
      (Calls{"event_query 0 e1", "malloc 0 14MiB", "stream_sync 0 s0x1", "free 0 #1",
             "malloc 0 14MiB", "event_sync 0 e1", "stream_sync 0 s0x1", "free 0 #2", "free 0 #3",
             "stream_sync 0 s0x52", "free 0 #4", "malloc 0 14MiB", "mem_info 0"}));
  EXPECT_EQ(device.stats().num_sync_all_streams, 1);
  EXPECT_EQ(device.stats().num_alloc_retries, 1);
  EXPECT_EQ(device.stats().num_ooms, 1);
}

}  // namespace
}  // namespace cairn
