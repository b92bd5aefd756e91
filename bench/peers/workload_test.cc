#include "bench/peers/workload.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "bench/peers/drawn_workloads.h"

namespace cairn::bench::peers {
namespace {

std::string path_of(const std::string& name) {
  return (std::filesystem::path(::testing::TempDir()) / (name + ".workload")).string();
}

Workload small() {
  Workload workload;
  const std::uint32_t kept = workload.sequence.allocate(300, 2);
  const std::uint32_t freed = workload.sequence.allocate(100, 1);
  workload.sequence.use(freed, 5);
  workload.sequence.free(freed);
  workload.sequence.steps.push_back({StepKind::allocate, 3, freed, 50});
  workload.sequence.free(freed);
  workload.first_timed = 2;
  static_cast<void>(kept);
  return workload;
}

TEST(Workload, FreesKnowWhatWasAllocated) {
  Workload workload = small();
  complete(workload);
  const auto& steps = workload.sequence.steps;
  EXPECT_EQ(steps[3].size_bytes, 100u);
  EXPECT_EQ(steps[3].stream, 1u);
  EXPECT_EQ(steps[5].size_bytes, 50u);
  EXPECT_EQ(steps[5].stream, 3u);
  EXPECT_EQ(workload.last_stream, 5u);
  EXPECT_EQ(workload.peak_live_bytes, 400u);
  ASSERT_EQ(workload.last_frees.size(), 1u);
  EXPECT_EQ(workload.last_frees[0].kind, StepKind::free);
  EXPECT_EQ(workload.last_frees[0].block, 0u);
  EXPECT_EQ(workload.last_frees[0].size_bytes, 300u);
  EXPECT_EQ(workload.last_frees[0].stream, 2u);
}

TEST(Workload, IsReadAsItWasWritten) {
  const std::string path = path_of("small");
  ASSERT_TRUE(write_workload(small(), path));
  const auto read = read_workload(path);
  ASSERT_TRUE(read) << read.error();
  EXPECT_EQ(read->sequence.name, "small");
  EXPECT_EQ(read->sequence.blocks, 2u);
  EXPECT_EQ(read->preparing().size(), 2u);
  EXPECT_EQ(read->timed().size(), 4u);
  EXPECT_EQ(read->timed()[0].stream, 5u);
  EXPECT_EQ(read->last_frees.size(), 1u);
}

TEST(Workload, WhatNoSequenceIsIsRefused) {
  const auto refuses = [](const Workload& workload) {
    const std::string path = path_of("bad");
    return write_workload(workload, path) && !read_workload(path);
  };
  Workload workload = small();
  workload.first_timed = 7;
  EXPECT_TRUE(refuses(workload));
  workload = small();
  workload.sequence.steps[2].block = 2;
  EXPECT_TRUE(refuses(workload));
  workload = small();
  std::swap(workload.sequence.steps[2], workload.sequence.steps[3]);  // Used when it is free.
  EXPECT_TRUE(refuses(workload));
  workload = small();
  workload.sequence.steps[1].size_bytes = 0;
  EXPECT_TRUE(refuses(workload));
  workload = small();
  workload.sequence.steps[4].block = 0;  // Allocated, and live.
  EXPECT_TRUE(refuses(workload));
}

TEST(Workload, WhatIsNoFileOfThemIsRefused) {
  const std::string path = path_of("cut");
  ASSERT_TRUE(write_workload(small(), path));
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_FALSE(read_workload(path));
  std::ofstream(path) << "alloc a 512 s0\n";
  EXPECT_FALSE(read_workload(path));
  EXPECT_FALSE(read_workload(path_of("nowhere")));
}

TEST(DrawnWorkload, IsSound) {
  for (const char* name :
       {"hit-same-10", "hit-random-10", "batch-3", "cross-stream", "random-100-of-4MiB"}) {
    auto workload = drawn_workload(name);
    ASSERT_TRUE(workload) << name;
    const std::string path = path_of(name);
    ASSERT_TRUE(write_workload(*workload, path));
    const auto read = read_workload(path);
    ASSERT_TRUE(read) << read.error();
    EXPECT_FALSE(read->timed().empty());
  }
}

TEST(DrawnWorkload, OtherNamesHaveNone) {
  for (const char* name :
       {"", "hit-same-", "hit-same-0", "hit-same-1x", "hit-any-1", "batch--1", "random-1-of-MiB",
        "random-1-of-1", "random-0-of-1MiB", "batch-99999999999999999999", "cross-stream-2"}) {
    EXPECT_FALSE(drawn_workload(name)) << name;
  }
}

}  // namespace
}  // namespace cairn::bench::peers
