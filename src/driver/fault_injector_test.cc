// Faults come at the call that was named, in the number that was named, and are counted from when
// they were planned.
#include "driver/fault_injector.h"

#include <gtest/gtest.h>

#include <vector>

#include "driver/calls_in_test.h"
#include "driver/null_driver.h"
#include "driver/recording_driver.h"

namespace cairn {
namespace {

constexpr CudaStatus ok = CudaStatus::success;
constexpr CudaStatus oom = CudaStatus::out_of_memory;
constexpr CudaStatus broken = CudaStatus::illegal_address;

class FaultInjectorTest : public testing::Test {
 protected:
  CudaStatus allocate(DeviceIndex device = 0) {
    const auto result = injector.malloc(device, Bytes{512});
    return result ? ok : result.error();
  }
  CudaStatus free(DeviceIndex device = 0) {
    const auto result = injector.free(device, Address{4096});
    return result ? ok : result.error();
  }
  CudaStatus ask(DeviceIndex device = 0) {
    const auto result = injector.mem_info(device);
    return result ? ok : result.error();
  }
  std::vector<CudaStatus> allocations(int count) {
    std::vector<CudaStatus> ends;
    for (int i = 0; i < count; ++i) ends.push_back(allocate());
    return ends;
  }

  NullDriver null{2};
  FaultInjector injector{null};
};

TEST_F(FaultInjectorTest, TheThirdCallOfItsKindFailsAndNoOther) {
  injector.add({.call = DriverCall::malloc, .at = 3, .error = oom});
  EXPECT_EQ(allocations(2), (std::vector{ok, ok}));
  EXPECT_EQ(free(), ok);
  EXPECT_EQ(ask(), ok);
  EXPECT_EQ(allocations(2), (std::vector{oom, ok}));
}

TEST_F(FaultInjectorTest, CallsAreCountedFromThePlanOnAndOverAllDevices) {
  EXPECT_EQ(allocations(5), (std::vector{ok, ok, ok, ok, ok}));
  injector.add({.call = DriverCall::malloc, .at = 2, .error = oom});
  EXPECT_EQ(allocate(0), ok);
  EXPECT_EQ(allocate(1), oom);
}

TEST_F(FaultInjectorTest, ACountOfFaultsFollowOneAnother) {
  injector.add({.call = DriverCall::malloc, .at = 2, .error = oom, .count = 2});
  EXPECT_EQ(allocations(5), (std::vector{ok, oom, oom, ok, ok}));
}

TEST_F(FaultInjectorTest, ForeverHasNoEnd) {
  injector.add({.call = DriverCall::malloc, .at = 2, .error = oom, .count = std::nullopt});
  EXPECT_EQ(allocations(4), (std::vector{ok, oom, oom, oom}));
}

TEST_F(FaultInjectorTest, EachKindHasItsOwnFaults) {
  injector.add({.call = DriverCall::free, .error = broken});
  injector.add({.call = DriverCall::mem_info, .error = CudaStatus::unknown});
  EXPECT_EQ(allocate(), ok);
  EXPECT_EQ(free(), broken);
  EXPECT_EQ(ask(), CudaStatus::unknown);
  EXPECT_EQ(free(), ok);
}

TEST_F(FaultInjectorTest, TheOldestOfTwoPlansGivesTheErrorAndBothCountTheCall) {
  injector.add({.call = DriverCall::malloc, .at = 1, .error = oom});
  injector.add({.call = DriverCall::malloc, .at = 1, .error = broken, .count = 2});
  EXPECT_EQ(allocations(3), (std::vector{oom, broken, ok}));
}

TEST_F(FaultInjectorTest, AStickyErrorIsTheAnswerToAllThatItsDeviceIsAskedLater) {
  injector.add({.call = DriverCall::malloc, .at = 2, .error = broken, .sticky = true});
  EXPECT_EQ(allocations(3), (std::vector{ok, broken, broken}));
  EXPECT_EQ(free(), broken);
  EXPECT_EQ(ask(), broken);
  EXPECT_EQ(allocate(1), ok);
  EXPECT_EQ(free(1), ok);
}

TEST_F(FaultInjectorTest, APlanThatNeverFiredIsReported) {
  injector.add({.call = DriverCall::malloc, .at = 1, .error = oom});
  injector.add({.call = DriverCall::malloc, .at = 9, .error = broken});
  allocations(8);
  ASSERT_EQ(injector.unfired().size(), 1u);
  EXPECT_EQ(injector.unfired().front().at, 9u);
  allocate();
  EXPECT_TRUE(injector.unfired().empty());
}

TEST_F(FaultInjectorTest, APlanWhoseErrorNeverCameOutHasNotFired) {
  injector.add({.call = DriverCall::malloc, .error = oom, .count = std::nullopt});
  injector.add({.call = DriverCall::malloc, .error = broken, .count = std::nullopt});
  allocations(3);
  ASSERT_EQ(injector.unfired().size(), 1u);
  EXPECT_EQ(injector.unfired().front().error, broken);
}

TEST(FaultsOfEveryCall, WithoutAPlanEachCallPasses) {
  AnsweringDriver answering;
  RecordingDriver below(answering);
  FaultInjector injector(below);
  expect_all_passes(injector, below);
}

TEST(FaultsOfEveryCall, EachKindFailsWhereItIsPlannedAndNeverReachesTheDriver) {
  AnsweringDriver answering;
  RecordingDriver below(answering);
  FaultInjector injector(below);
  for (const CallInTest& call : every_call()) {
    injector.add({.call = call.told.call, .error = broken});
    EXPECT_EQ(call.make(injector, call.told), broken) << to_string(call.told.call);
    EXPECT_TRUE(below.take_record().empty()) << to_string(call.told.call);
    EXPECT_EQ(call.make(injector, call.told), ok) << to_string(call.told.call);
    (void)below.take_record();
  }
  EXPECT_TRUE(injector.unfired().empty());
}

TEST(FaultsOfEveryCall, EachKindLosesItsDeviceForAllOthers) {
  AnsweringDriver answering;
  RecordingDriver below(answering);
  for (const CallInTest& call : every_call()) {
    FaultInjector injector(below);
    injector.add({.call = call.told.call, .error = broken, .sticky = true});
    EXPECT_EQ(call.make(injector, call.told), broken);
    for (const CallInTest& later : every_call()) {
      EXPECT_EQ(later.make(injector, later.told), broken) << to_string(later.told.call);
    }
  }
  EXPECT_TRUE(below.take_record().empty());
}

}  // namespace
}  // namespace cairn
