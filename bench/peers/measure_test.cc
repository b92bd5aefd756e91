// On the null device, which the test is linked with.
#include "bench/peers/measure.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/peers/drawn_workloads.h"
#include "bench/peers/peer.h"

namespace cairn::bench::peers {
namespace {

// Each request is a call of the runtime; there is memory for so many blocks at a time.
template <int Blocks>
class CallEach {
 public:
  static constexpr const char* name = "call_each";

  explicit CallEach(const std::vector<cudaStream_t>& streams) { EXPECT_GE(streams.size(), 1u); }

  void* allocate(const Step& step) {
    void* pointer = nullptr;
    if (live_ == Blocks || cudaMalloc(&pointer, step.size_bytes) != cudaSuccess) return nullptr;
    ++live_;
    return pointer;
  }
  void free(void* pointer, const Step& step) {
    if (step.size_bytes != 1024) throw std::runtime_error("the size is not told");
    --live_;
    cudaFree(pointer);
  }
  void use(void*, const Step&) {}

 private:
  int live_ = 0;
};

class Measure : public ::testing::Test {
 protected:
  Measure() {
    std::filesystem::create_directories(folder_);
    EXPECT_TRUE(write_workload(*drawn_workload("batch-50"), path_));
  }
  ~Measure() override { std::filesystem::remove_all(folder_); }

  template <class Peer>
  int run_it(const char* measure) {
    std::string program = "peer";
    std::string what = measure;
    char* arguments[] = {program.data(), what.data(), path_.data()};
    ::testing::internal::CaptureStdout();
    const int status = run_peer<Peer>(3, arguments);
    const std::string said = ::testing::internal::GetCapturedStdout();
    line_ = said.empty() ? nlohmann::json() : nlohmann::json::parse(said);
    return status;
  }

  // Of each test its own: they run at the same time.
  std::string folder_ = ::testing::TempDir() + "measure_test_" +
                        ::testing::UnitTest::GetInstance()->current_test_info()->name() + "/";
  std::string path_ = folder_ + "batch-50.workload";
  nlohmann::json line_;
};

TEST_F(Measure, TheCallsOfTheNullDeviceAreCounted) {
  ASSERT_EQ(run_it<CallEach<50>>("held"), 0);
  EXPECT_EQ(line_["workload"], "batch-50");
  EXPECT_EQ(line_["peer"], "call_each");
  EXPECT_EQ(line_["peak_live_bytes"], 50 * 1024);
  EXPECT_EQ(line_["steps"], 200'000);
  EXPECT_EQ(line_["calls"]["malloc"], 100'000);
  EXPECT_EQ(line_["calls"]["free"], 100'000);
  EXPECT_EQ(line_["calls"]["event_record"], 0);
}

TEST_F(Measure, ThereIsATime) {
  ASSERT_EQ(run_it<CallEach<50>>("time"), 0);
  EXPECT_TRUE(line_.contains("ns"));
}

TEST_F(Measure, APeerWithoutMemoryFailed) {
  EXPECT_EQ(run_it<CallEach<49>>("time"), 1);
  EXPECT_EQ(line_["failure"], "out of memory");
  EXPECT_FALSE(line_.contains("ns"));
  EXPECT_EQ(run_it<CallEach<49>>("held"), 1);
  EXPECT_FALSE(line_.contains("calls"));
}

TEST_F(Measure, WhatCannotBeUnderstoodIsRefused) {
  EXPECT_EQ(run_it<CallEach<50>>("guess"), 2);
  EXPECT_EQ(run_it<CallEach<50>>("fits"), 2);  // The null device's memory cannot be set.
  std::filesystem::remove(path_);
  EXPECT_EQ(run_it<CallEach<50>>("time"), 2);
}

}  // namespace
}  // namespace cairn::bench::peers
