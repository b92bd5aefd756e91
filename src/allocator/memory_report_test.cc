// Out of memory, in numbers that add up and in words that tell them all.
#include "allocator/memory_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

// A device of 100 MiB, of which 20 and 12 MiB are held: 3 and 12 MiB are live, 2 MiB pending, and
// 15 MiB free.
class MemoryReportTest : public testing::Test {
 protected:
  explicit MemoryReportTest(const Options& options = {}) : device_(options, 1, 100_MiB) {
    device_.allocate(3_MiB);
    device_.free(device_.allocate_used(2_MiB, s0, {s1}));
    device_.allocate(12_MiB, s1);
    device_.calls();
  }
  Error error_of_request(Bytes size, StreamId stream = s0) {
    device_.driver().answer(DriverCall::malloc, {oom, oom});
    return error_of(device_.try_allocate(size, stream));
  }
  static void expect_words(const Error& error, const std::vector<std::string>& words) {
    for (const std::string& each : words) {
      EXPECT_NE(error.message.find(each), std::string::npos) << each << " in: " << error.message;
    }
  }

  DeviceInTest device_;
};

TEST_F(MemoryReportTest, TheFieldsAreWhatTheStatisticsAndTheDriverSay) {
  const Error error = error_of_request(29_MiB + 1_KiB);
  ASSERT_NE(error.memory, nullptr);
  const MemoryReport& report = *error.memory;
  const DeviceStats stats = device_.stats();
  EXPECT_EQ(report.device, 0);
  EXPECT_EQ(report.requested_bytes, (29_MiB + 1_KiB).count);
  EXPECT_EQ(report.tried_bytes, (30_MiB).count);
  EXPECT_EQ(report.total_bytes, (100_MiB).count);
  EXPECT_EQ(report.free_bytes, (3_GiB).count);
  EXPECT_EQ(report.limit_bytes, std::nullopt);
  EXPECT_EQ(report.allocated_bytes, (15_MiB).count);
  EXPECT_EQ(report.private_bytes, 0u);
  EXPECT_EQ(report.unallocated_bytes, (17_MiB).count);
  EXPECT_EQ(report.pending_bytes, 0u);  // All events were waited for.
  EXPECT_EQ(report.reserved_bytes(), static_cast<std::uint64_t>(stats.reserved_bytes.all.current));
  EXPECT_TRUE(report.processes.empty());
}

TEST_F(MemoryReportTest, EveryQuantityIsInTheWords) {
  device_->set_memory_fraction(0.9);
  const Error error = error_of_request(29_MiB + 1_KiB, s2);
  expect_words(
      error,
      {"CUDA out of memory", "Tried to allocate 30.00 MiB", "request of 30409728 bytes",
       "stream 0x52", "GPU 0", "total capacity of 100.00 MiB", "3.00 GiB is free",
       "90.00 MiB allowed by the memory fraction", "32.00 MiB that Cairn holds",
       "15.00 MiB is allocated", "17.00 MiB is reserved but unallocated", "max_split_size_mb"});
  EXPECT_EQ(error.message.find("private"), std::string::npos);
  EXPECT_EQ(error.message.find("waits"), std::string::npos);
}

TEST_F(MemoryReportTest, TheyAreSentences) {
  EXPECT_EQ(error_of_request(29_MiB + 1_KiB, s2).message,
            "CUDA out of memory. Tried to allocate 30.00 MiB for a request of 30409728 bytes "
            "(stream 0x52). GPU 0 has a total capacity of 100.00 MiB of which 3.00 GiB is free. Of "
            "the 32.00 MiB that Cairn holds, 15.00 MiB is allocated, and 17.00 MiB is reserved but "
            "unallocated. What is reserved but unallocated lies between live blocks, or belongs to "
            "other streams; if it is much, max_split_size_mb may reduce fragmentation.");
}

TEST_F(MemoryReportTest, ProcessesAreNamedAndOurOwnIsKnown) {
  const auto own = static_cast<std::uint32_t>(getpid());
  device_.driver().set_processes({{own, 1_GiB}, {own + 1, 5_MiB}});
  const Error error = error_of_request(30_MiB);
  ASSERT_EQ(error.memory->processes.size(), 2u);
  EXPECT_EQ(error.memory->processes[0].pid, own);
  EXPECT_EQ(error.memory->processes[1].used_bytes, (5_MiB).count);
  expect_words(error, {"this process has 1.00 GiB in use",
                       "Process " + std::to_string(own + 1) + " has 5.00 MiB in use"});
  EXPECT_EQ(error.message.find("Process " + std::to_string(own) + " "), std::string::npos);
}

TEST_F(MemoryReportTest, WhereTheDriverDoesNotAnswerTheRestIsTold) {
  device_.driver().answer(DriverCall::mem_info, {refused});
  const Error error = error_of_request(30_MiB);
  EXPECT_EQ(error.code, ErrorCode::out_of_memory);
  EXPECT_EQ(error.cuda_code, 2);
  EXPECT_EQ(error.memory->total_bytes, std::nullopt);
  EXPECT_EQ(error.memory->free_bytes, std::nullopt);
  expect_words(error, {"does not say how much memory it has", "15.00 MiB is allocated"});
}

TEST_F(MemoryReportTest, WhereNothingIsUnallocatedThereIsNoAdvice) {
  DeviceInTest device({}, 1, 100_MiB);
  device.driver().answer(DriverCall::malloc, {oom, oom});
  const Error error = error_of(device.try_allocate(30_MiB));
  expect_words(error, {"and 0 bytes is reserved but unallocated."});
  EXPECT_EQ(error.message.find("max_split_size_mb"), std::string::npos);
}

TEST_F(MemoryReportTest, OtherFailuresHaveNone) {
  device_.driver().answer(DriverCall::malloc, {refused});
  EXPECT_EQ(error_of(device_.try_allocate(30_MiB)).memory, nullptr);
}

// A rejection comes before the rungs that wait: what is pending is so still.
class RejectionReportTest : public MemoryReportTest {
 protected:
  RejectionReportTest() : MemoryReportTest(rejecting()) {
    device_->set_memory_fraction(0.75);
    device_.calls();
  }
  static Options rejecting() {
    Options options;
    options.throw_on_cudamalloc_oom = true;
    options.per_process_memory_fraction = 0.5;
    return options;
  }
};

TEST_F(RejectionReportTest, ItKnowsTheTotalAloneAndAsksNothing) {
  const Error error = error_of(device_.try_allocate(30_MiB));
  ASSERT_NE(error.memory, nullptr);
  const MemoryReport& report = *error.memory;
  EXPECT_EQ(error.code, ErrorCode::rejected);
  EXPECT_EQ(report.tried_bytes, (30_MiB).count);
  EXPECT_EQ(report.total_bytes, (100_MiB).count);
  EXPECT_EQ(report.free_bytes, std::nullopt);
  EXPECT_EQ(report.limit_bytes, (75_MiB).count);
  EXPECT_EQ(report.allocated_bytes, (15_MiB).count);
  EXPECT_EQ(report.unallocated_bytes, (17_MiB).count);
  EXPECT_EQ(report.pending_bytes, (2_MiB).count);
  EXPECT_EQ(report.reserved_bytes(), (32_MiB).count);
  EXPECT_EQ(device_.calls(), Calls{"event_query 0 e1"});
}

TEST_F(RejectionReportTest, ItsWordsSayWhatIsPendingAndWhatIsAllowed) {
  const Error error = error_of(device_.try_allocate(30_MiB));
  expect_words(error,
               {"Tried to allocate 30.00 MiB", "rejected before the driver was asked",
                "throw_on_cudamalloc_oom", "50.00 MiB that per_process_memory_fraction",
                "total capacity of 100.00 MiB", "75.00 MiB allowed", "32.00 MiB that Cairn holds",
                "15.00 MiB is allocated", "17.00 MiB is reserved but unallocated",
                "2.00 MiB of it waits for other streams"});
  EXPECT_EQ(error.message.find("is free"), std::string::npos);
}

}  // namespace
}  // namespace cairn
