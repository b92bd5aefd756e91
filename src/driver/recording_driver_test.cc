// The record says what was asked and what was answered; every attempt counts.
#include "driver/recording_driver.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "driver/calls_in_test.h"
#include "driver/fault_injector.h"
#include "driver/null_driver.h"

namespace cairn {
namespace {

class RecordingDriverTest : public testing::Test {
 protected:
  NullDriver null{2};
  FaultInjector injector{null};
  RecordingDriver recorder{injector};
};

TEST_F(RecordingDriverTest, WritesDownWhatWentInAndWhatCameOut) {
  const Address address = *recorder.malloc(1, Bytes{4096});
  const MemoryInfo info = *recorder.mem_info(0);
  ASSERT_TRUE(recorder.free(1, address));

  const auto record = recorder.take_record();
  ASSERT_EQ(record.size(), 3u);
  EXPECT_EQ(record[0].call, DriverCall::malloc);
  EXPECT_EQ(record[0].device, 1);
  EXPECT_EQ(record[0].size, Bytes{4096});
  EXPECT_EQ(record[0].address, address);
  EXPECT_EQ(record[0].status, CudaStatus::success);
  EXPECT_EQ(record[1].call, DriverCall::mem_info);
  EXPECT_EQ(record[1].device, 0);
  EXPECT_EQ(record[1].memory.total, info.total);
  EXPECT_EQ(record[2].call, DriverCall::free);
  EXPECT_EQ(record[2].device, 1);
  EXPECT_EQ(record[2].address, address);
}

TEST_F(RecordingDriverTest, AnInjectedFaultIsACallLikeAnother) {
  injector.add({.call = DriverCall::malloc, .error = CudaStatus::out_of_memory});
  ASSERT_FALSE(recorder.malloc(0, Bytes{512}));
  ASSERT_TRUE(recorder.malloc(0, Bytes{512}));
  EXPECT_EQ(recorder.calls(DriverCall::malloc), 2u);
  EXPECT_EQ(recorder.calls(DriverCall::free), 0u);

  const auto record = recorder.take_record();
  EXPECT_EQ(record[0].status, CudaStatus::out_of_memory);
  EXPECT_EQ(record[0].address, Address{0});
  EXPECT_EQ(record[1].status, CudaStatus::success);
}

TEST_F(RecordingDriverTest, CountsAndRecordStartAnewIndependently) {
  ASSERT_TRUE(recorder.mem_info(0));
  recorder.reset_calls();
  EXPECT_EQ(recorder.calls(DriverCall::mem_info), 0u);
  EXPECT_EQ(recorder.take_record().size(), 1u);
  EXPECT_TRUE(recorder.take_record().empty());
  ASSERT_TRUE(recorder.mem_info(0));
  EXPECT_EQ(recorder.calls(DriverCall::mem_info), 1u);
}

TEST_F(RecordingDriverTest, NoCallIsLostBetweenThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([this] {
      for (int i = 0; i < 1000; ++i) (void)recorder.malloc(0, Bytes{512});
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorder.calls(DriverCall::malloc), 4000u);
  EXPECT_EQ(recorder.take_record().size(), 4000u);
}

TEST(RecordOfEveryCall, SaysAllThatWentInAndCameOut) {
  AnsweringDriver answering;
  RecordingDriver below(answering);
  FaultInjector between(below);
  RecordingDriver recorder(between);
  expect_all_passes(recorder, below);
  const std::vector<CallInTest> calls = every_call();
  const std::vector<RecordedCall> record = recorder.take_record();
  ASSERT_EQ(record.size(), calls.size());
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_TRUE(record[i] == calls[i].told) << to_string(calls[i].told.call);
  }
}

TEST(RecordOfEveryCall, AFailureHasACodeAndNoAnswer) {
  AnsweringDriver answering;
  FaultInjector injector(answering);
  RecordingDriver recorder(injector);
  for (const CallInTest& call : every_call()) {
    const std::uint64_t before = recorder.calls(call.told.call);
    injector.add({.call = call.told.call, .error = CudaStatus::unknown});
    EXPECT_EQ(call.make(recorder, call.told), CudaStatus::unknown);
    const RecordedCall made = recorder.take_record().front();
    EXPECT_EQ(made.call, call.told.call);
    EXPECT_EQ(made.device, 1);
    EXPECT_EQ(made.status, CudaStatus::unknown);
    EXPECT_EQ(made.memory.total, Bytes{});
    EXPECT_FALSE(made.is_done);
    EXPECT_EQ(made.stream_id, 0u);
    EXPECT_EQ(recorder.calls(call.told.call), before + 1);
  }
}

}  // namespace
}  // namespace cairn
