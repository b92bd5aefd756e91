// Streams that come to their end: what is told of one, and what stands under its key.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

constexpr StreamId r1 = retired_stream(1);
constexpr StreamId r2 = retired_stream(2);

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

class ForgetStreamTest : public testing::Test {
 protected:
  ScriptedDriver& driver() { return device_.driver(); }
  Calls calls() { return device_.calls(); }
  void forget(StreamId stream, DeviceIndex device = 0) {
    calls();
    EXPECT_TRUE(device_.forget(stream, device));
  }
  void finish_all() {
    driver().finish_all();
    EXPECT_TRUE(device_.process_events());
    calls();
  }
  Calls calls_of_free(Address address) {
    calls();
    device_.free(address);
    return calls();
  }

  DeviceInTest device_{{}, 2};
};

TEST_F(ForgetStreamTest, AStreamThatNobodyKnowsIsNothing) {
  device_.free(device_.allocate_used(1_KiB, s0, {s2}));
  finish_all();
  for (const StreamId unknown : {s1, s2, s3}) {
    forget(unknown);
    forget(unknown, 1);
    EXPECT_EQ(calls(), Calls{});
  }
}

// Its memory is nobody's to reuse: a stream of the same handle is another.
TEST_F(ForgetStreamTest, ItsMemoryStaysUnderARetiredKey) {
  const Address live = device_.allocate(1_KiB, s1);
  const Address cached = device_.allocate(1_KiB, s1);
  device_.free(cached);
  forget(s1);
  EXPECT_EQ(calls(), (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1"}));
  EXPECT_EQ(device_->map().front().stream, r1.value);
  EXPECT_NE(device_.allocate(1_KiB, s1), cached);
  device_.free(live);
  EXPECT_NE(device_.allocate(1_KiB, s1), live);
  EXPECT_EQ(device_->map().front().blocks.size(), 1u);  // They merged.
}

TEST_F(ForgetStreamTest, ItsMemoryGoesBackAfterItsFence) {
  device_.free(device_.allocate(1_KiB, s1));
  device_.free(device_.allocate(2_MiB, s0));
  forget(s1);
  calls();
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), (Calls{"event_sync 0 e1", "stream_sync 0 s0x1", "free 0 #2", "free 0 #1"}));
}

// Forgotten streams count from 1, of whatever device.
TEST_F(ForgetStreamTest, EachHasAKeyOfItsOwn) {
  const Address first = device_.allocate(1_KiB, s1);
  device_.record(first, s1, 1);
  device_.record(first, s2);
  forget(s1, 1);
  EXPECT_EQ(device_.uses(first), (std::vector<StreamKey>{{0, s2}, {1, r1}}));
  forget(s1);
  EXPECT_EQ(device_->map().front().stream, r2.value);
  forget(s2);
  EXPECT_EQ(device_.uses(first), (std::vector<StreamKey>{{0, retired_stream(3)}, {1, r1}}));
  device_.record(first, s1);  // Another stream of that handle.
  EXPECT_EQ(device_.uses(first),
            (std::vector<StreamKey>{{0, s1}, {0, retired_stream(3)}, {1, r1}}));
}

TEST_F(ForgetStreamTest, AFencedUseIsSharedByAllBlocksThatAreFreedLater) {
  const Address first = device_.allocate_used(1_KiB, s0, {s1});
  device_.allocate(1_KiB);
  const Address second = device_.allocate_used(1_KiB, s0, {s1});
  forget(s1);
  EXPECT_EQ(calls(), (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1"}));
  EXPECT_EQ(calls_of_free(first), Calls{});
  EXPECT_EQ(calls_of_free(second), Calls{});
  EXPECT_TRUE(device_.is_pending(first));
  EXPECT_EQ(device_.queued(), 3u);
  driver().finish(1);
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(calls(), Calls{"event_query 0 e1"});
  EXPECT_FALSE(device_.is_pending(first));
  EXPECT_FALSE(device_.is_pending(second));
}

TEST_F(ForgetStreamTest, AUseIsOverOnceItsFenceIsDone) {
  const Address address = device_.allocate_used(1_KiB, s0, {s1});
  forget(s1);
  finish_all();
  EXPECT_EQ(calls_of_free(address), Calls{});
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(ForgetStreamTest, WhatWaitedForItGoesOnWaiting) {
  const Address address = device_.allocate_used(1_KiB, s0, {s1});
  device_.free(address);
  forget(s1);
  EXPECT_EQ(calls(), (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e2"}));
  driver().finish(2);
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(calls(), Calls{"event_query 0 e1"});
  EXPECT_TRUE(device_.is_pending(address));
  driver().finish(1);
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(ForgetStreamTest, AQueueAloneIsEnoughToKnowIt) {
  device_.free(device_.allocate_used(1_KiB, s0, {s1}));
  forget(s1);
  EXPECT_EQ(calls().size(), 3u);
  device_.allocate_used(1_KiB, s0, {s1});
  device_.free(device_.allocate_used(1_KiB, s0, {s1}));  // The queue of the next stream.
  EXPECT_EQ(device_.queued(), 3u);
}

TEST_F(ForgetStreamTest, AStreamThatIsGoneAlreadyIsFencedByItsContext) {
  const Address address = device_.allocate_used(1_KiB, s0, {s1});
  driver().answer(DriverCall::stream_ctx, {no_stream});
  forget(s1);
  EXPECT_EQ(calls(), (Calls{"stream_ctx 0 s0x51", "event_create 0", "ctx_record 0 e1"}));
  EXPECT_EQ(calls_of_free(address), Calls{});  // The fence stands in its own queue.
  EXPECT_TRUE(device_.is_pending(address));
  finish_all();
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(ForgetStreamTest, WhereThatCannotBeItsWorkIsOver) {
  const Address used = device_.allocate_used(1_KiB, s0, {s1});
  device_.free(device_.allocate(1_KiB, s1));
  driver().answer(DriverCall::stream_ctx, {no_stream});
  driver().answer(DriverCall::ctx_record, {CudaStatus::not_supported});
  forget(s1);
  EXPECT_EQ(calls(),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "ctx_record 0 e1", "device_sync 0"}));
  EXPECT_EQ(calls_of_free(used), Calls{});
  EXPECT_FALSE(device_.is_pending(used));
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "free 0 #2"}));
}

// Where garbage is collected: a block waits for s1 (e1), of which 20 MiB are cached (#2).
struct CachedByAUser : DeviceInTest {
  CachedByAUser() : DeviceInTest(collecting(), 1, 100_MiB), used(allocate_used(1_KiB, s0, {s1})) {
    free(allocate(20_MiB, s1));
    free(used);
  }
  static Options collecting() {
    Options options;
    options.garbage_collection_threshold = 0.25;
    return options;
  }
  const Address used;
};

// Garbage and oversize segments go back before all events were waited for.
TEST(ForgetStreamRelease, ASegmentThatGoesBackAloneWaitsForTheWholeQueueOfItsStream) {
  CachedByAUser device;
  const Address later = device.allocate_used(1_KiB, s0, {s1});
  EXPECT_TRUE(device.forget(s1));  // e2,
  device.free(later);              // which this one shares.
  device->set_memory_fraction(0.5);
  device.calls();
  device.allocate(20_MiB);
  EXPECT_EQ(device.calls(), (Calls{"event_query 0 e1", "event_sync 0 e1", "event_sync 0 e2",
                                   "free 0 #2", "malloc 0 20MiB"}));
  EXPECT_TRUE(device.is_pending(device.used));  // Until the next look.
  EXPECT_TRUE(device.process_events());
  EXPECT_FALSE(device.is_pending(device.used));
}

// Then memory of the stream stays, and after a sticky failure nothing is asked any more.
TEST(ForgetStreamRelease, AWaitThatFailsEndsThere) {
  for (const CudaStatus failure : {refused, fatal}) {
    CachedByAUser device;
    EXPECT_TRUE(device.forget(s1));
    device->set_memory_fraction(0.5);
    device.calls();
    device.driver().answer(DriverCall::event_sync, {failure});
    const auto result = device.try_allocate(20_MiB);
    const Calls calls = device.calls();
    EXPECT_EQ(std::ranges::count(calls, "free 0 #2"), 0);
    EXPECT_EQ(std::ranges::count(calls, "event_sync 0 e1"), 1);
    EXPECT_EQ(device->lost().has_value(), failure == fatal);
    if (failure != fatal) continue;
    EXPECT_EQ(calls.back(), "event_sync 0 e1");
    EXPECT_EQ(error_of(result).cuda_code, static_cast<int>(fatal));
  }
}

TEST_F(ForgetStreamTest, AFailureChangesNothingAndItCanBeForgottenThen) {
  const Calls all{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1"};
  for (std::size_t nth = 0; nth < all.size(); ++nth) {
    DeviceInTest device;
    const Address address = device.allocate_used(1_KiB, s0, {s1});
    const Address own = device.allocate(1_KiB, s1);
    std::vector<CudaStatus> answers(nth, ok);
    answers.push_back(refused);
    device.driver().answer(answers);
    device.calls();
    EXPECT_EQ(error_of(device.forget(s1)).code, ErrorCode::cuda_error);
    EXPECT_EQ(device.calls(), Calls(all.begin(), all.begin() + static_cast<long>(nth) + 1));
    EXPECT_EQ(device.uses(address), (std::vector<StreamKey>{{0, s1}}));
    EXPECT_EQ(device.queued(), 0u);
    device.free(own);
    EXPECT_EQ(device.allocate(1_KiB, s1), own);
    EXPECT_TRUE(device.forget(s1));
    EXPECT_EQ(device.uses(address), (std::vector<StreamKey>{{0, r1}}));
  }
}

// --- all devices ---

TEST(ForgetStreamEverywhere, DefaultStreamsDoNotEnd) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  for (const std::uintptr_t handle : {0U, 1U, 2U}) {
    Error why;
    EXPECT_FALSE(allocator.try_forget_stream(0, stream(handle), &why));
    EXPECT_EQ(why.code, ErrorCode::invalid_argument);
    EXPECT_NE(why.message.find("default stream"), std::string::npos) << why.message;
    EXPECT_THROW(allocator.forget_stream(0, stream(handle)), InvalidArgument);
  }
  EXPECT_EQ(driver.calls(), Calls{});
}

TEST(ForgetStreamEverywhere, TheHandleAfterTheirsIsOfAStreamThatEnds) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  allocator.allocate({1000, 0, stream(3)});
  EXPECT_TRUE(allocator.try_forget_stream(0, stream(3)));
}

// A stream of device 1, which blocks of both devices use.
class ForgetStreamOfTwo : public testing::Test {
 protected:
  ForgetStreamOfTwo() {
    allocator_.record_stream(first_, stream(0x51), 1);
    allocator_.record_stream(second_, stream(0x51), 1);
    driver_.calls();
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_};
  void* first_ = allocator_.allocate({1000, 0});
  void* second_ = allocator_.allocate({1000, 1});
};

TEST_F(ForgetStreamOfTwo, EachAllocatorThatKnowsItHasAFence) {
  allocator_.forget_stream(1, stream(0x51));
  EXPECT_EQ(driver_.calls(),
            (Calls{"stream_ctx 1 s0x51", "event_create 1", "event_record 1 s0x51 e1",
                   "stream_ctx 1 s0x51", "event_create 1", "event_record 1 s0x51 e2"}));
  allocator_.free(first_);
  allocator_.free(second_);
  EXPECT_EQ(driver_.calls(), Calls{});
  driver_.finish(1);
  allocator_.process_events(0);
  allocator_.process_events(1);
  EXPECT_EQ(driver_.calls(), (Calls{"event_query 1 e1", "event_query 1 e2"}));
  EXPECT_EQ(allocator_.stats(0).active.all.current, 0);
  EXPECT_EQ(allocator_.stats(1).active.all.current, 1);
}

TEST_F(ForgetStreamOfTwo, AfterAFailureTheSecondTryTellsTheRest) {
  driver_.answer(DriverCall::stream_ctx, {ok, refused});
  Error why;
  EXPECT_FALSE(allocator_.try_forget_stream(1, stream(0x51), &why));
  EXPECT_EQ(why.cuda_code, 999);
  driver_.calls();
  allocator_.forget_stream(1, stream(0x51));
  EXPECT_EQ(driver_.calls(),
            (Calls{"stream_ctx 1 s0x51", "event_create 1", "event_record 1 s0x51 e2"}));
  allocator_.forget_stream(1, stream(0x51));
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST_F(ForgetStreamOfTwo, AStreamOfTheSameHandleOnTheOtherDeviceIsNotMeant) {
  allocator_.forget_stream(0, stream(0x51));
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST(ForgetStreamById, TheNextStreamOfTheHandleIsToldOfByIt) {
  Options options;
  options.stream_identity = StreamIdentity::id;
  ScriptedDriver driver;
  Allocator allocator(driver, options);
  void* p = allocator.allocate({1000, 0, stream(0x51)});
  driver.calls();
  allocator.forget_stream(0, stream(0x51));
  EXPECT_EQ(driver.calls(), (Calls{"stream_id 0 s0x51", "stream_id 0 s0x51", "stream_ctx 0 s0x51",
                                   "event_create 0", "event_record 0 s0x51 e1"}));
  driver.set_id(0x51, 0x2051);
  allocator.record_stream(p, stream(0x51));
  driver.calls();
  allocator.free(p);
  EXPECT_EQ(driver.calls(), (Calls{"stream_id 0 s0x51", "stream_ctx 0 s0x51", "event_create 0",
                                   "event_record 0 s0x51 e2"}));
}

}  // namespace
}  // namespace cairn
