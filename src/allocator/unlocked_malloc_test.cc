// release_lock_on_cudamalloc: what other operations of the same device do while the driver is asked
// for memory. They run within the driver's malloc, on the same thread, so that none of this depends
// on time; with the lock held they would wait for ever.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address seg(std::uint64_t number) { return ScriptedDriver::segment(number); }

Options unlocked() {
  Options options;
  options.release_lock_on_cudamalloc = true;
  return options;
}

class UnlockedMalloc : public testing::Test {
 protected:
  // Runs within the next malloc, not in those that it leads to.
  void meanwhile(std::function<void()> act) {
    device_.calls();
    device_.driver().during_malloc([this, act = std::move(act)] {
      device_.driver().during_malloc({});
      act();
    });
  }
  Calls calls() { return device_.calls(); }
  Bytes asked() {
    return device_->inspect([](const DeviceState& state) { return state.asked; });
  }

  DeviceInTest device_{unlocked(), 1, 100_MiB};
};

TEST_F(UnlockedMalloc, OthersAllocateFreeAndLook) {
  const Address live = device_.allocate(2_MiB);
  Address other;
  meanwhile([&] {
    EXPECT_EQ(asked(), 30_MiB);
    other = *device_->allocate({s0, 2_MiB});
    EXPECT_TRUE(device_->free(live, nullptr));
    EXPECT_EQ(device_.stats().allocation.all.current, 1);
    EXPECT_TRUE(device_->process_events());
  });
  EXPECT_EQ(device_.allocate(30_MiB, s1), seg(2));
  EXPECT_EQ(other, live + 2_MiB);
  EXPECT_EQ(calls(), Calls{"malloc 0 30MiB"});
  EXPECT_EQ(asked(), 0_B);
}

// The request was searched for before; the segment comes all the same.
TEST_F(UnlockedMalloc, AFreeMeanwhileDoesNotServeIt) {
  const Address live = device_.allocate(30_MiB);
  meanwhile([&] { EXPECT_TRUE(device_->free(live, nullptr)); });
  EXPECT_EQ(device_.allocate(30_MiB), seg(2));
  EXPECT_EQ(device_.allocate(30_MiB), live);
}

// The room that was made for the segment goes to another request of the stream.
TEST_F(UnlockedMalloc, AnotherRequestTakesTheRoomForTheSegment) {
  Address other;
  meanwhile([&] { other = *device_->allocate({s1, 20_MiB}); });
  const Address mine = device_.allocate(30_MiB, s1);
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "malloc 0 20MiB"}));
  EXPECT_EQ(other, seg(1));
  EXPECT_EQ(mine, seg(2));
  EXPECT_EQ(device_.segments(), (std::vector{seg(1), seg(2)}));
  EXPECT_EQ(device_.stats().num_device_alloc, 2);
}

// Also the stream's share of the pool.
TEST_F(UnlockedMalloc, AnEmptiedCacheTakesTheStreamsRoomAway) {
  device_.free(device_.allocate(20_MiB, s1));
  meanwhile([&] { EXPECT_TRUE(device_->empty_cache()); });
  EXPECT_EQ(device_.allocate(30_MiB, s1), seg(2));
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s0x51", "free 0 #1"}));
  EXPECT_EQ(device_.segments(), std::vector{seg(2)});
}

TEST_F(UnlockedMalloc, AStreamIsForgotten) {
  device_.free(device_.allocate(20_MiB, s1));
  meanwhile([&] { EXPECT_TRUE(device_->forget_stream({0, s1})); });
  const Address mine = device_.allocate(30_MiB, s1);
  EXPECT_EQ(device_->map()[0].stream, retired_stream(1).value);
  EXPECT_EQ(device_->map()[1].stream, s1.value);
  device_.free(mine);
  EXPECT_EQ(device_.allocate(30_MiB, s1), mine);
}

TEST_F(UnlockedMalloc, TheLimitCountsWhatIsAskedFor) {
  device_->set_memory_fraction(0.5);
  Error why;
  meanwhile([&] { why = error_of(device_->allocate({s1, 22_MiB})); });
  EXPECT_TRUE(device_.try_allocate(30_MiB));
  EXPECT_EQ(why.code, ErrorCode::out_of_memory);
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "mem_info 0"}));
  EXPECT_TRUE(device_.try_allocate(20_MiB));  // Just 50 MiB.
}

TEST_F(UnlockedMalloc, TheLimitCountsWhatIsHeldAndWhatIsAskedFor) {
  device_->set_memory_fraction(0.5);
  device_.allocate(20_MiB);
  Error why;
  meanwhile([&] { why = error_of(device_->allocate({s1, 12_MiB})); });
  EXPECT_TRUE(device_.try_allocate(20_MiB));
  EXPECT_EQ(why.code, ErrorCode::out_of_memory);
}

TEST_F(UnlockedMalloc, SoDoesTheBorderOfRejections) {
  Options options = unlocked();
  options.throw_on_cudamalloc_oom = true;
  options.per_process_memory_fraction = 0.5;
  DeviceInTest device(options, 1, 100_MiB);
  device->set_memory_fraction(1.0);
  Error why;
  device.driver().during_malloc([&] { why = error_of(device->allocate({s1, 22_MiB})); });
  EXPECT_TRUE(device.try_allocate(30_MiB));
  EXPECT_EQ(why.code, ErrorCode::rejected);
}

TEST_F(UnlockedMalloc, WhatWasAskedForInVainCountsNoMore) {
  device_->set_memory_fraction(0.5);
  for (const CudaStatus status : {oom, refused}) {
    device_.driver().answer(DriverCall::malloc, {status, status});
    EXPECT_TRUE(device_.try_allocate(50_MiB).failed());
    EXPECT_EQ(asked(), 0_B);
  }
  device_.driver().answer(DriverCall::malloc, {});
  EXPECT_TRUE(device_.try_allocate(50_MiB));
}

TEST_F(UnlockedMalloc, NorDoesWhatTheDriverHadNoHostMemoryFor) {
  meanwhile([] { throw std::bad_alloc(); });
  EXPECT_THROW(static_cast<void>(device_->allocate({s0, 60_MiB})), std::bad_alloc);
  EXPECT_EQ(asked(), 0_B);
  device_->set_memory_fraction(0.6);
  EXPECT_EQ(device_.allocate(60_MiB), seg(1));
}

// What becomes free while the driver says no is found after the wait for events.
TEST_F(UnlockedMalloc, AfterANoTheRungsGoOnWithWhatThereIsThen) {
  const Address live = device_.allocate(30_MiB);
  device_.driver().answer(DriverCall::malloc, {oom});
  meanwhile([&] { EXPECT_TRUE(device_->free(live, nullptr)); });
  EXPECT_EQ(device_.allocate(30_MiB), live);
  EXPECT_EQ(calls(), Calls{"malloc 0 30MiB"});
}

TEST_F(UnlockedMalloc, TheLimitMayChange) {
  meanwhile([&] { device_->set_memory_fraction(0.1); });
  EXPECT_EQ(device_.allocate(30_MiB), seg(1));  // It was asked for before.
  EXPECT_TRUE(device_.try_allocate(1_KiB).failed());
}

// Requests are rounded up more from now on: what came is not enough, and stays cached.
TEST_F(UnlockedMalloc, WhereTheRequestNeedsMoreByNowTheDriverIsAskedAgain) {
  Options options = unlocked();
  options.roundup_power2_divisions.fill(1);
  options.roundup_power2_divisions[4] = 2;
  meanwhile([&] { device_->reconfigure(options); });
  EXPECT_EQ(device_.allocate(18_MiB), seg(2));
  EXPECT_EQ(calls(), (Calls{"malloc 0 18MiB", "malloc 0 24MiB"}));
  EXPECT_EQ(device_.segments(), (std::vector{seg(1), seg(2)}));
  EXPECT_EQ(device_.stats().allocation.all.current, 1);
}

// And so much may not be held: it is not asked for, nor is what was asked for before once more.
TEST_F(UnlockedMalloc, WhereARequestNeedsMoreMeanwhileTheLimitCountsIt) {
  Options options = unlocked();
  options.roundup_power2_divisions.fill(1);
  options.roundup_power2_divisions[4] = 2;
  meanwhile([&] {
    device_->reconfigure(options);
    device_->set_memory_fraction(0.2);
  });
  EXPECT_EQ(error_of(device_.try_allocate(18_MiB)).code, ErrorCode::out_of_memory);
  const Calls all = calls();
  EXPECT_EQ(std::ranges::count(all, "malloc 0 18MiB"), 1);
  EXPECT_EQ(std::ranges::count_if(all, [](auto& call) { return call.starts_with("malloc"); }), 1);
  EXPECT_EQ(asked(), 0_B);
}

TEST_F(UnlockedMalloc, ACallbackIsCalledOnceAndTheDriverIsAskedThen) {
  int called = 0;
  device_.callbacks().add([&](int) { return ++called < 0; });
  Bytes asked_meanwhile;
  meanwhile([&] { asked_meanwhile = asked(); });
  device_.allocate(30_MiB);
  EXPECT_EQ(called, 1);
  EXPECT_EQ(asked_meanwhile, 30_MiB);  // Without the lock: with it this would wait for ever.
  EXPECT_EQ(asked(), 0_B);
}

TEST_F(UnlockedMalloc, MemoryThatOverlapsWhatCameMeanwhileIsRefused) {
  meanwhile([&] { EXPECT_TRUE(device_->allocate({s1, 20_MiB})); });
  device_.driver().next_address(seg(1));  // The inner malloc takes it; the outer has #2.
  EXPECT_EQ(device_.allocate(30_MiB), seg(2));
}

// --- a device that is lost meanwhile ---

class LostMeanwhile : public UnlockedMalloc {
 protected:
  void lose_device_meanwhile() {
    meanwhile([&] {
      device_.driver().answer(DriverCall::stream_sync, {fatal});
      EXPECT_TRUE(device_->empty_cache().failed());
    });
  }
};

TEST_F(LostMeanwhile, NothingIsHandedOut) {
  device_.free(device_.allocate(20_MiB, s1));
  lose_device_meanwhile();
  const Error error = error_of(device_->allocate({s0, 30_MiB}));
  EXPECT_EQ(error.code, ErrorCode::cuda_error);
  EXPECT_EQ(error.cuda_code, 700);
  EXPECT_NE(error.message.find("is lost"), std::string::npos) << error.message;
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s0x51"}));
  EXPECT_EQ(device_.segments(), std::vector{seg(1)});
  EXPECT_EQ(device_.stats().allocation.all.current, 0);
  EXPECT_EQ(asked(), 0_B);
}

TEST_F(LostMeanwhile, ANoOfTheDriverEndsItToo) {
  device_.free(device_.allocate(20_MiB, s1));
  device_.driver().answer(DriverCall::malloc, {oom});
  lose_device_meanwhile();
  EXPECT_EQ(error_of(device_->allocate({s0, 30_MiB})).cuda_code, 700);
  EXPECT_EQ(calls(), (Calls{"malloc 0 30MiB", "stream_sync 0 s0x51"}));
  EXPECT_EQ(device_.stats().num_ooms, 0);
}

// --- callbacks ---

TEST_F(LostMeanwhile, InACallbackToo) {
  device_.free(device_.allocate(20_MiB, s1));
  device_.callbacks().add([&](int) {
    device_.driver().answer(DriverCall::stream_sync, {fatal});
    EXPECT_TRUE(device_->empty_cache().failed());
    return true;
  });
  device_.calls();
  EXPECT_EQ(error_of(device_.try_allocate(30_MiB)).cuda_code, 700);
  EXPECT_EQ(calls(), Calls{"stream_sync 0 s0x51"});
}

}  // namespace
}  // namespace cairn
