// A device that failed for good: the call says so, and after it no driver call is made any more.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "allocator/all_devices.h"
#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr std::array sticky{201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716,
                            717, 718, 719, 721, 805, 806, 807, 808, 809, 810, 911};

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

// A device on which every kind of call can be provoked. Live: `used_`, by s1 and a stream that is
// gone. Pending: 2 MiB for s2. Cached: 12 MiB of s1.
class Device : public DeviceInTest {
 public:
  Device() {
    const Address cached = allocate(12_MiB, s1);
    const Address waiting = allocate_used(2_MiB, s0, {s2});
    used_ = allocate_used(1_KiB, s0, {s1});
    for (const Address address : {cached, waiting}) free(address);
    calls();
  }
  Address used() const { return used_; }

 private:
  Address used_;
};

struct Provocation {
  DriverCall call;
  std::function<bool(Device&, Error&)> act;  // False where it failed.
};

template <class T>
bool note(const Result<T, Error>& result, Error& why) {
  if (result.failed()) why = result.error();
  return !result.failed();
}

std::vector<Provocation> provocations() {
  const auto allocate = [](Device& device, Error& why) {
    return note(device->allocate({s3, 30_MiB}), why);
  };
  const auto free = [](Device& device, Error& why) {
    return note(device->free(device.used(), nullptr), why);
  };
  const auto free_of_gone = [=](Device& device, Error& why) {
    device.driver().answer(DriverCall::stream_ctx, {no_stream});
    return free(device, why);
  };
  const auto free_without_contexts = [=](Device& device, Error& why) {
    device.driver().answer(DriverCall::stream_ctx, {no_stream});
    device.driver().answer(DriverCall::ctx_record, {CudaStatus::not_supported});
    return free(device, why);
  };
  const auto allocate_short = [=](Device& device, Error& why) {
    device.driver().answer(DriverCall::malloc, {oom, oom});
    return allocate(device, why);
  };
  const auto forget = [](Device& device, Error& why) {
    return note(device->forget_stream({0, s1}), why);
  };
  const auto look = [](Device& device, Error& why) { return note(device->process_events(), why); };
  const auto empty = [](Device& device, Error& why) { return note(device->empty_cache(), why); };
  return {{DriverCall::malloc, allocate},
          {DriverCall::mem_info, allocate_short},
          {DriverCall::event_query, allocate},
          {DriverCall::event_query, look},
          {DriverCall::event_sync, empty},
          {DriverCall::event_sync, allocate_short},
          {DriverCall::stream_sync, empty},
          {DriverCall::stream_sync, allocate_short},
          {DriverCall::free, empty},
          {DriverCall::free, allocate_short},
          {DriverCall::stream_ctx, free},
          {DriverCall::stream_ctx, forget},
          {DriverCall::event_create, free},
          {DriverCall::event_record, free},
          {DriverCall::event_record, forget},
          {DriverCall::ctx_record, free_of_gone},
          {DriverCall::device_sync, free_without_contexts}};
}

// What a lost device does, whatever lost it.
void expect_lost(Device& device, int code) {
  const DeviceStats stats = device.stats();
  device.calls();
  for (const auto& result : {device.empty_cache(), device.process_events()}) {
    EXPECT_EQ(error_of(result).code, ErrorCode::cuda_error);
    EXPECT_EQ(error_of(result).cuda_code, code);
  }
  const Error error = error_of(device.try_allocate(1_KiB));
  EXPECT_EQ(error.cuda_code, code);
  EXPECT_NE(error.message.find("is lost"), std::string::npos) << error.message;
  EXPECT_NE(error.message.find(std::to_string(code)), std::string::npos) << error.message;
  device.record(device.used(), s3);
  device.free(device.used());  // Its uses are dropped.
  EXPECT_FALSE(device.is_pending(device.used()));
  EXPECT_TRUE(device.forget(s1));
  EXPECT_TRUE(device.forget(s2));
  device->set_memory_fraction(0.5);
  device->reconfigure({});
  EXPECT_EQ(device.stats().segment.all.current, stats.segment.all.current);
  EXPECT_EQ(device.calls(), Calls{});
}

TEST(LostDevice, ByAnyCallAndAnyCode) {
  for (const Provocation& provocation : provocations()) {
    for (const int code : sticky) {
      Device device;
      device.driver().answer(provocation.call, {static_cast<CudaStatus>(code)});
      Error why;
      const bool is_done = provocation.act(device, why);
      const std::string what = std::string(to_string(provocation.call)) + std::to_string(code);
      EXPECT_FALSE(is_done) << what;
      EXPECT_EQ(why.code, ErrorCode::cuda_error) << what;
      EXPECT_EQ(why.cuda_code, code) << what;
      const Calls calls = device.calls();
      const std::string last(to_string(provocation.call));
      EXPECT_EQ(calls.back().substr(0, last.size()), last);
      expect_lost(device, code);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(LostDevice, NotByOtherCodes) {
  for (const Provocation& provocation : provocations()) {
    Device device;
    device.driver().answer(provocation.call, {refused});
    Error why;
    provocation.act(device, why);
    device.driver().answer({});
    EXPECT_TRUE(device.try_allocate(40_MiB)) << to_string(provocation.call);
  }
}

// The failure that ended the device is told, though another one came before.
TEST(LostDevice, AStickyFailureGoesBeforeOthers) {
  for (const bool is_allocation : {false, true}) {
    DeviceInTest device;
    for (const StreamId user : {s1, s2, s3}) {
      device.free(device.allocate_used(1_KiB, s0, {user}));
    }
    device.calls();
    device.driver().answer(DriverCall::event_query, {refused, fatal});
    const Error error =
        is_allocation ? error_of(device.try_allocate(1_KiB)) : error_of(device.process_events());
    EXPECT_EQ(error.cuda_code, 700);
    EXPECT_EQ(device.calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  }
}

TEST(LostDevice, ByTheWaitForTheDeviceOfAStreamThatIsGone) {
  Device device;
  device.driver().answer(DriverCall::stream_sync, {no_stream});
  device.driver().answer(DriverCall::device_sync, {fatal});
  EXPECT_EQ(error_of(device.empty_cache()).cuda_code, static_cast<int>(fatal));
  device.driver().answer({});
  expect_lost(device, static_cast<int>(fatal));
}

// What ended the device stays the reason, though later calls, made elsewhere, fail otherwise.
TEST(LostDevice, ByTheFirstStickyFailure) {
  DeviceInTest device;
  device->note_failure(fatal);
  device->note_failure(CudaStatus{719});
  EXPECT_EQ(error_of(device.try_allocate(1_KiB)).cuda_code, static_cast<int>(fatal));
}

TEST(LostDevice, WhatIsCachedIsNotHandedOut) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  allocator.free(allocator.allocate({1000}));
  driver.answer({fatal});
  Error why;
  EXPECT_EQ(allocator.try_allocate({std::size_t{30} << 20}, &why), nullptr);
  EXPECT_EQ(allocator.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.code, ErrorCode::cuda_error);
}

TEST(LostDevice, ACheckedFreeNamesItsStreamStill) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 0, stream(0x51)});
  driver.answer({fatal});
  Error why;
  EXPECT_EQ(allocator.try_allocate({std::size_t{30} << 20}, &why), nullptr);
  EXPECT_TRUE(allocator.try_free(p, 1000, stream(0x51), &why)) << why.message;
}

TEST(LostDevice, PendingBlocksStayPending) {
  Device device;
  device.driver().answer(DriverCall::event_sync, {fatal});
  EXPECT_TRUE(device.empty_cache().failed());
  device.driver().finish_all();
  EXPECT_TRUE(device.process_events().failed());
  EXPECT_EQ(device.queued(), 1u);
  EXPECT_EQ(device.stats().active.all.current, 2);
}

TEST(LostDevice, FreeOnIsBookkeepingToo) {
  Device device;
  device.driver().answer(DriverCall::event_sync, {fatal});
  EXPECT_TRUE(device.empty_cache().failed());
  device.calls();
  EXPECT_TRUE(device.free_on(device.used(), s3));
  EXPECT_FALSE(device.is_pending(device.used()));
  EXPECT_TRUE(device.try_free(device.used()).failed());  // Not live.
  EXPECT_EQ(device.calls(), Calls{});
}

TEST(LostDevice, AForgottenStreamIsRetiredWithoutAFence) {
  Device device;
  device.driver().answer(DriverCall::event_sync, {fatal});
  EXPECT_TRUE(device.empty_cache().failed());
  device.calls();
  EXPECT_TRUE(device.forget(s1));
  EXPECT_EQ(device.uses(device.used()), (std::vector<StreamKey>{{0, retired_stream(1)}}));
  EXPECT_TRUE(device.forget(s2));
  EXPECT_EQ(device.queued(), 1u);
  EXPECT_EQ(device.calls(), Calls{});
}

TEST(LostDevice, AtTheEndNothingGoesBack) {
  ScriptedDriver driver(2);
  {
    Allocator allocator(driver);
    allocator.free_on(allocator.allocate({1000, 0}), stream(0x51));
    allocator.free(allocator.allocate({1000, 1}));
    driver.answer(DriverCall::event_sync, {fatal});
    EXPECT_THROW(allocator.empty_cache(), CudaError);
    EXPECT_NE(allocator.allocate({1000, 1}), nullptr);  // The other device works.
    driver.calls();
  }
  EXPECT_EQ(driver.calls(), (Calls{"stream_sync 1 s0x1", "free 1 #2"}));
}

// It may be lost at the very end: then the rest is left.
TEST(LostDevice, AtAnyCallOfTheEndTheRestIsLeft) {
  const Calls all{"event_sync 0 e1",     "stream_sync 0 s0x1", "free 0 #1",
                  "stream_sync 0 s0x52", "free 0 #2",          "event_destroy 0 e1",
                  "event_destroy 0 e2"};
  for (std::size_t nth = 0; nth < all.size(); ++nth) {
    ScriptedDriver driver;
    {
      Allocator allocator(driver);
      void* p = allocator.allocate({1000});
      allocator.record_stream(p, stream(0x51));
      allocator.record_stream(p, stream(0x53));
      allocator.free(p);  // e1, e2
      driver.finish(2);
      allocator.process_events(0);
      allocator.free(allocator.allocate({1000, 0, stream(0x52)}));
      driver.calls();
      std::vector<CudaStatus> answers(nth, ok);
      answers.push_back(fatal);
      driver.answer(answers);
    }
    const Calls calls = driver.calls();
    EXPECT_EQ(calls.size(), nth + 1) << nth;
    if (testing::Test::HasFailure()) return;
  }
}

// --- streams by the driver's id ---

class LostDeviceById : public testing::Test {
 protected:
  static Options by_id() {
    Options options;
    options.stream_identity = StreamIdentity::id;
    return options;
  }

  ScriptedDriver driver_{2};
  Allocator allocator_{driver_, by_id()};
};

TEST_F(LostDeviceById, ByTheQuestionForAnId) {
  void* p = allocator_.allocate({1000, 0, stream(0x51)});
  driver_.answer(DriverCall::stream_id, {fatal});
  Error why;
  EXPECT_EQ(allocator_.try_allocate({1000, 0, stream(0x52)}, &why), nullptr);
  EXPECT_EQ(why.cuda_code, 700);
  driver_.calls();
  EXPECT_EQ(allocator_.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.cuda_code, 700);
  EXPECT_TRUE(allocator_.try_free(p, 1000, stream(0x51)));
  EXPECT_EQ(driver_.calls(), Calls{});
  EXPECT_NE(allocator_.allocate({1000, 1, stream(0x51)}), nullptr);
}

TEST_F(LostDeviceById, ByTheQuestionWhetherAUseHasItsIdStill) {
  void* p = allocator_.allocate({1000, 0, stream(0x51)});
  allocator_.record_stream(p, stream(0x52));
  driver_.answer(DriverCall::stream_id, {fatal});
  Error why;
  EXPECT_FALSE(allocator_.try_free(p, &why));
  EXPECT_EQ(why.cuda_code, 700);
  driver_.calls();
  EXPECT_EQ(allocator_.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.cuda_code, 700);
  EXPECT_EQ(driver_.calls(), Calls{});
}

TEST_F(LostDeviceById, ByTheQuestionWhetherAStreamToWaitForHasItsIdStill) {
  allocator_.free(allocator_.allocate({1000, 0, stream(0x51)}));
  driver_.answer(DriverCall::stream_id, {fatal});
  EXPECT_THROW(allocator_.empty_cache(), CudaError);
  driver_.calls();
  Error why;
  EXPECT_EQ(allocator_.try_allocate({1000}, &why), nullptr);
  EXPECT_EQ(why.cuda_code, 700);
  EXPECT_EQ(driver_.calls(), Calls{});
}

// A stream is what it was, as long as it is known.
TEST_F(LostDeviceById, ItIsAskedForNoId) {
  void* p = allocator_.allocate({1000, 0, stream(0x51)});
  void* q = allocator_.allocate({1000, 0, stream(0x51)});
  allocator_.allocate({1000, 0, stream(0x52)});
  allocator_.free(q);
  driver_.answer(DriverCall::malloc, {fatal});
  EXPECT_EQ(allocator_.try_allocate({30 << 20}), nullptr);
  driver_.calls();
  allocator_.record_stream(p, stream(0x52));
  Error why;
  EXPECT_FALSE(allocator_.try_record_stream(p, stream(0x53), Allocator::block_device, &why));
  EXPECT_EQ(why.cuda_code, 700);
  EXPECT_FALSE(allocator_.try_free(p, 1000, stream(0x52)));
  EXPECT_TRUE(allocator_.try_free(p, 1000, stream(0x51)));
  EXPECT_TRUE(allocator_.try_forget_stream(0, stream(0x51)));
  EXPECT_FALSE(allocator_.try_forget_stream(0, stream(0x51)));  // It is unknown by now.
  EXPECT_EQ(allocator_.try_allocate({1000, 0, stream(0x52)}, &why), nullptr);
  EXPECT_EQ(driver_.calls(), Calls{});
}

}  // namespace
}  // namespace cairn
