// Blocks that wait for events: when they become free, and what is asked of the driver meanwhile.
#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address seg(std::uint64_t number) { return ScriptedDriver::segment(number); }

class EventsTest : public testing::Test {
 protected:
  ScriptedDriver& driver() { return device_.driver(); }
  Calls calls() { return device_.calls(); }
  // A block of s0 that waits for those streams, in front of a live one, so that it stays apart.
  Address pending(std::initializer_list<StreamId> users, Bytes size = 1_KiB) {
    const Address address = device_.allocate_used(size, s0, users);
    device_.allocate(size);
    device_.free(address);
    calls();
    return address;
  }
  Calls calls_of_look() {
    calls();
    EXPECT_TRUE(device_.process_events());
    return calls();
  }

  DeviceInTest device_;
};

TEST_F(EventsTest, AHitOnTheSameStreamAsksNothing) {
  const Address address = device_.allocate(1_KiB, s1);
  device_.free(address);
  calls();
  EXPECT_EQ(device_.allocate(1_KiB, s1), address);
  EXPECT_EQ(calls(), Calls{});
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(calls(), Calls{});
}

TEST_F(EventsTest, WhileEventsArePendingAHitAsksAboutThemAlone) {
  const Address waiting = pending({s1, s2});
  const Address address = device_.allocate(1_KiB);
  EXPECT_NE(address, waiting);
  EXPECT_EQ(calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  device_.free(address);
  EXPECT_EQ(calls(), Calls{});
  driver().finish_all();
  EXPECT_EQ(device_.allocate(1_KiB), waiting);
  EXPECT_EQ(calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  device_.allocate(1_KiB);
  EXPECT_EQ(calls(), Calls{});
}

TEST_F(EventsTest, ABlockIsFreeAfterTheLastOfItsEvents) {
  const Address address = pending({s1, s2, s3});
  for (const std::uint64_t event : {2U, 1U}) {
    driver().finish(event);
    EXPECT_TRUE(device_.process_events());
    EXPECT_TRUE(device_.is_pending(address));
  }
  EXPECT_EQ(calls_of_look(), Calls{"event_query 0 e3"});
  driver().finish(3);
  EXPECT_EQ(calls_of_look(), Calls{"event_query 0 e3"});
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(EventsTest, TheFirstOfAStreamThatIsNotDoneHidesTheOthersOfIt) {
  pending({s1});
  const Address second = pending({s1});
  driver().finish(2);
  EXPECT_EQ(calls_of_look(), Calls{"event_query 0 e1"});
  EXPECT_TRUE(device_.is_pending(second));
  driver().finish(1);
  EXPECT_EQ(calls_of_look(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_FALSE(device_.is_pending(second));
}

TEST_F(EventsTest, AStreamThatIsStuckHoldsUpNoOther) {
  const Address stuck = pending({s1});
  const Address first = pending({s2});
  const Address second = pending({s2});
  driver().finish(2);
  driver().finish(3);
  EXPECT_EQ(calls_of_look(), (Calls{"event_query 0 e1", "event_query 0 e2", "event_query 0 e3"}));
  EXPECT_TRUE(device_.is_pending(stuck));
  EXPECT_FALSE(device_.is_pending(first));
  EXPECT_FALSE(device_.is_pending(second));
}

TEST_F(EventsTest, QueuesGoByDeviceThenStream) {
  DeviceInTest device({}, 2);
  const Address address = device.allocate(1_KiB, s1);
  device.record(address, s3);
  device.record(address, s2, 1);
  device.record(address, s2);
  device.free(address);  // e1 on s2, e2 on s3, e3 on s2 of device 1.
  device.driver().answer(DriverCall::stream_ctx, {no_stream});
  device.free(device.allocate_used(1_KiB, s0, {s1}));  // e4: of the whole context.
  device.free(device.allocate_used(1_KiB, s1, {s0}));  // e5
  device.calls();
  EXPECT_TRUE(device.process_events());
  EXPECT_EQ(device.calls(), (Calls{"event_query 0 e5", "event_query 0 e1", "event_query 0 e2",
                                   "event_query 0 e4", "event_query 1 e3"}));
}

TEST_F(EventsTest, AQueryThatFailsIsNotDoneAndHoldsUpNoOther) {
  const Address first = pending({s1});
  const Address second = pending({s2});
  driver().finish_all();
  driver().answer(DriverCall::event_query, {refused, ok});
  const Error error = error_of(device_.process_events());
  EXPECT_EQ(error.code, ErrorCode::cuda_error);
  EXPECT_EQ(error.cuda_code, 999);
  for (const char* words : {"event_query", "event 0x1", "0x10000000000", "1024 bytes"}) {
    EXPECT_NE(error.message.find(words), std::string::npos) << words << " in: " << error.message;
  }
  EXPECT_EQ(calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_TRUE(device_.is_pending(first));
  EXPECT_FALSE(device_.is_pending(second));
  EXPECT_TRUE(device_.process_events());
  EXPECT_FALSE(device_.is_pending(first));
}

TEST_F(EventsTest, TheFirstOfSeveralFailuresIsTold) {
  pending({s1});
  pending({s2});
  driver().answer(DriverCall::event_query, {CudaStatus::not_supported, refused});
  EXPECT_EQ(error_of(device_.process_events()).cuda_code, 801);
}

TEST_F(EventsTest, AnAllocationDoesNotMindAQueryThatFails) {
  const Address first = pending({s1});
  driver().finish_all();
  driver().answer(DriverCall::event_query, {refused});
  EXPECT_NE(device_.allocate(1_KiB), first);
  EXPECT_EQ(device_.allocate(1_KiB), first);
}

// --- waiting for all ---

TEST_F(EventsTest, EmptyCacheWaitsForAllInOrder) {
  const Address first = pending({s2, s1});
  pending({s1});
  const DeviceStats before = device_.stats();
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), (Calls{"event_sync 0 e1", "event_sync 0 e3", "event_sync 0 e2"}));
  EXPECT_FALSE(device_.is_pending(first));
  EXPECT_EQ(device_.queued(), 0u);
  EXPECT_EQ(device_.stats().num_sync_all_streams, before.num_sync_all_streams + 1);
}

TEST_F(EventsTest, AWaitThatFailsEndsThere) {
  const Address first = pending({s1});
  const Address second = pending({s2});
  const Address third = pending({s3});
  driver().answer(DriverCall::event_sync, {ok, refused});
  const Error error = error_of(device_.empty_cache());
  EXPECT_EQ(error.cuda_code, 999);
  EXPECT_NE(error.message.find("event_sync"), std::string::npos);
  EXPECT_EQ(calls(), (Calls{"event_sync 0 e1", "event_sync 0 e2"}));
  EXPECT_FALSE(device_.is_pending(first));
  EXPECT_TRUE(device_.is_pending(second));
  EXPECT_TRUE(device_.is_pending(third));
  EXPECT_TRUE(device_.empty_cache());
  EXPECT_EQ(calls(), (Calls{"event_sync 0 e2", "event_sync 0 e3"}));
}

// What was pending serves the request; the cache stays.
TEST_F(EventsTest, WhenMemoryIsShortARequestWaitsAndSearches) {
  const Address large = device_.allocate_used(30_MiB, s0, {s1});
  device_.free(large);
  calls();
  driver().answer(DriverCall::malloc, {oom});
  EXPECT_EQ(device_.allocate(30_MiB), large);
  EXPECT_EQ(calls(), (Calls{"event_query 0 e1", "malloc 0 30MiB", "event_sync 0 e1"}));
  const DeviceStats stats = device_.stats();
  EXPECT_EQ(stats.num_sync_all_streams, 1);
  EXPECT_EQ(stats.num_alloc_retries, 0);
}

// --- what a pending block is ---

TEST_F(EventsTest, APendingBlockIsActiveButNotAllocated) {
  const Address address = device_.allocate_used(3_KiB, s0, {s1});
  device_.free(address);
  DeviceStats stats = device_.stats();
  EXPECT_EQ(stats.allocation.all.current, 0);
  EXPECT_EQ(stats.allocated_bytes.all.current, 0);
  EXPECT_EQ(stats.active.all.current, 1);
  EXPECT_EQ(stats.active_bytes.all.current, 3 << 10);
  EXPECT_EQ(stats.requested_bytes.all.current, 3 << 10);
  driver().finish_all();
  EXPECT_TRUE(device_.process_events());
  stats = device_.stats();
  EXPECT_EQ(stats.active.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.requested_bytes.all.current, 0);
}

TEST_F(EventsTest, NeighboursMergeOnceTheyAreFree) {
  const Address first = device_.allocate_used(1_KiB, s0, {s1});
  const Address second = device_.allocate(1_KiB);
  const Address third = device_.allocate_used(1_KiB, s0, {s1});
  for (const Address address : {first, second, third}) device_.free(address);
  EXPECT_EQ(device_->map().front().blocks.size(), 4u);
  driver().finish(1);
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(device_->map().front().blocks.size(), 3u);
  EXPECT_EQ(device_.allocate(2_KiB), first);
  device_.free(first);
  driver().finish(2);
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(device_->map().front().blocks.size(), 1u);
  EXPECT_EQ(device_.allocate(1_MiB), seg(1));
}

// --- the end ---

TEST(EventsAtTheEnd, AllIsWaitedForAndDestroyed) {
  ScriptedDriver driver;
  {
    Allocator allocator(driver);
    void* p = allocator.allocate({1000});
    allocator.free_on(allocator.allocate({1000}), reinterpret_cast<Stream>(0x51));
    driver.finish_all();
    allocator.process_events(0);
    allocator.free_on(p, reinterpret_cast<Stream>(0x51));
    allocator.record_stream(allocator.allocate({1000}), reinterpret_cast<Stream>(0x52));
    driver.calls();
  }
  EXPECT_EQ(driver.calls(),
            (Calls{"event_sync 0 e1", "stream_sync 0 s0x1", "free 0 #1", "event_destroy 0 e1"}));
  EXPECT_EQ(driver.events(), 0u);
}

TEST(EventsAtTheEnd, AStreamIsWaitedForOnce) {
  ScriptedDriver driver;
  {
    Allocator allocator(driver);
    for (const std::size_t size : {1000u, 20u << 20, 30u << 20}) {
      allocator.free(allocator.allocate({size}));
    }
    driver.calls();
  }
  EXPECT_EQ(driver.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #1", "free 0 #2", "free 0 #3"}));
}

TEST(EventsAtTheEnd, WhatCannotBeWaitedForIsDestroyedAllTheSame) {
  ScriptedDriver driver;
  {
    Allocator allocator(driver);
    void* first = allocator.allocate({1000});
    void* second = allocator.allocate({1000});
    allocator.record_stream(first, reinterpret_cast<Stream>(0x51));
    allocator.record_stream(second, reinterpret_cast<Stream>(0x51));
    allocator.free(first);
    allocator.forget_stream(0, reinterpret_cast<Stream>(0x51));  // Fence e2,
    allocator.free(second);                                      // which it shares.
    driver.answer(DriverCall::event_sync, {refused});
    driver.answer(DriverCall::stream_sync, {refused});
    driver.answer(DriverCall::free, {refused});
    driver.calls();
  }
  EXPECT_EQ(driver.calls(),
            (Calls{"event_sync 0 e1", "free 0 #1", "event_destroy 0 e1", "event_destroy 0 e2"}));
  EXPECT_EQ(driver.events(), 0u);
}

}  // namespace
}  // namespace cairn
