#include <gtest/gtest.h>

#include "testing/parser.h"
#include "tool/replay_machine.h"

namespace cairn::tool {
namespace {

struct Replayed {
  ExitCode code = ExitCode::good;
  int line = 0;
  std::string why;
  ReplayFigures figures;
};

Replayed replayed(const std::string& text) {
  const auto program = cairn::testing::parse_program(text);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return {};
  const auto plan = plan_replay(*program);
  if (!plan) return {plan.error().code, plan.error().line, plan.error().why, {}};
  const auto figures = replay(*plan);
  if (!figures) return {figures.error().code, figures.error().line, figures.error().why, {}};
  return {ExitCode::good, 0, {}, *figures};
}

TEST(Replay, CountsOperationsPeaksAndDriverCalls) {
  const auto result = replayed(
      "alloc a 30MiB\n"
      "alloc b 10MiB s1\n"
      "free a\n"
      "free b\n"
      "empty_cache\n"
      "alloc c 12MiB\n"
      "alloc d 4MiB\n"
      "free c\n");
  ASSERT_EQ(result.code, ExitCode::good) << result.why;
  const ReplayFigures& figures = result.figures;
  EXPECT_EQ(figures.allocations, 4U);
  EXPECT_EQ(figures.frees, 3U);
  EXPECT_EQ(figures.peak_allocated, 40U << 20);
  EXPECT_EQ(figures.peak_reserved, 40U << 20);
  EXPECT_EQ(figures.largest_free, 16U << 20);
  EXPECT_EQ(figures.total_free, 28U << 20);
  EXPECT_EQ(figures.calls[static_cast<std::size_t>(DriverCall::malloc)], 4U);
  EXPECT_EQ(figures.calls[static_cast<std::size_t>(DriverCall::free)], 2U);
}

TEST(Replay, StartsFromSegmentsAndSeesThatAddressesAreAsExpected) {
  const std::string start =
      "conf best_fit_tie:address\n"
      "segment 0x7e0000000000 20MiB large s0\n"
      "block w1 4MiB\n"
      "block - 16MiB\n"
      "free w1\n"
      "alloc a 2MiB = 0x7e0000000000\n"
      "next_segment 0x7e0040000000\n"
      "alloc b 30MiB = 0x7e0040000000\n";
  EXPECT_EQ(replayed(start).code, ExitCode::good);
  const auto result = replayed(start + "alloc c 2MiB = 0x7e0000000000\n");
  EXPECT_EQ(result.code, ExitCode::violated);
  EXPECT_EQ(result.line, 9);
  EXPECT_EQ(result.why, "expected 0x7e0000000000, found 0x7e0000200000");
}

TEST(Replay, ThreadsHaveTheirOwnDevicesAndDefaultStreams) {
  const auto result = replayed(
      "gpu 1\n"
      "T1: device 1\n"
      "T1: alloc a 2MiB\n"
      "T2: alloc b 2MiB ptds\n"
      "T3: alloc c 2MiB ptds\n"
      "T1: free a\n");
  ASSERT_EQ(result.code, ExitCode::good) << result.why;
  EXPECT_EQ(result.figures.calls[static_cast<std::size_t>(DriverCall::malloc)], 3U);
}

TEST(Replay, OutOfMemoryHasToComeWhereItIsExpectedAndNowhereElse) {
  const std::string small_gpu = "gpu 0 memory=64MiB\n";
  EXPECT_EQ(replayed(small_gpu + "alloc a 128MiB -> out_of_memory\n").code, ExitCode::good);
  EXPECT_EQ(replayed(small_gpu + "alloc a 8MiB -> out_of_memory\n").code, ExitCode::violated);
  EXPECT_EQ(replayed(small_gpu + "alloc a 128MiB\n").code, ExitCode::violated);
}

TEST(Replay, DeclarationsMeanWhatTheyMeanToRun) {
  const std::string start =
      "gpu 1\n"
      "conf max_split_size_mb:20\n"
      "conf best_fit_tie:address\n"
      "device 1\n"
      "segment 0x7e0000000000 40MiB large s0\n"
      "block - 40MiB\n";
  EXPECT_EQ(replayed(start + "alloc a 36MiB = 0x7e0000000000\n").code, ExitCode::good);
  // Not from the oversize block: both lines of settings count.
  EXPECT_EQ(replayed(start + "alloc a 12MiB = 0x110000000000\n").code, ExitCode::good);
}

TEST(Replay, WhatIsAMistakeToRunIsOneHere) {
  const auto no_device = replayed("alloc a 1\ndevice 1\n");
  EXPECT_EQ(no_device.code, ExitCode::bad_input);
  EXPECT_EQ(no_device.why, "there is no device 1");
  EXPECT_EQ(no_device.line, 2);
  EXPECT_EQ(replayed("segment 0x7e0000000000 2MiB small s0 gpu=1\nblock - 2MiB\n").code,
            ExitCode::bad_input);
  const auto live = replayed("alloc a 1\nfree a\nalloc a 2\nalloc a 0\n");
  EXPECT_EQ(live.code, ExitCode::bad_input);
  EXPECT_EQ(live.why, "'a' is live; free it first");
  EXPECT_EQ(live.line, 4);
  const auto settings = replayed("conf max_split_size_mb:20\nconf expandable_segments:True\n");
  EXPECT_EQ(settings.code, ExitCode::unsupported);
  EXPECT_EQ(settings.line, 2);
}

TEST(Replay, ANameMeansItsLastRange) {
  EXPECT_EQ(replayed("alloc a 2MiB\nfree a\nalloc a 30MiB\nfree a\nalloc z 0\nfree z\n").code,
            ExitCode::good);
  const auto twice = replayed("alloc a 2MiB\nfree a\nfree a\n");
  EXPECT_EQ(twice.code, ExitCode::violated);
  EXPECT_EQ(twice.line, 3);
}

TEST(Replay, WhatItCannotDoIsRefusedByLine) {
  const auto result = replayed("alloc a 2MiB\npoll\n");
  EXPECT_EQ(result.code, ExitCode::unsupported);
  EXPECT_EQ(result.line, 2);
  EXPECT_EQ(result.why, "'poll' cannot be replayed");
  EXPECT_EQ(replayed("conf max_split_size_mb:1\n").code, ExitCode::bad_input);
}

TEST(Replay, AUsedBlockWaitsForTheEventOfItsFree) {
  const auto result = replayed("alloc a 2MiB\nuse a s1\nfree a\n");
  EXPECT_EQ(result.code, ExitCode::good);
  EXPECT_EQ(result.figures.calls[static_cast<std::size_t>(DriverCall::event_record)], 1U);
  const auto on = replayed("alloc a 2MiB\nfree a on s1\n");
  EXPECT_EQ(on.figures.calls[static_cast<std::size_t>(DriverCall::event_record)], 1U);
  const auto freed = replayed("alloc a 2MiB\nfree a\nuse a s1\n");
  EXPECT_EQ(freed.code, ExitCode::violated);
  EXPECT_EQ(freed.line, 3);
}

TEST(Replay, AFreeThatSaysSizeOrStreamIsChecked) {
  const std::string start = "gpu 1\nalloc a 1000 s1\n";
  EXPECT_EQ(replayed(start + "free a size=1000 stream=s1\n").code, ExitCode::good);
  EXPECT_EQ(replayed(start + "free a stream=s1\n").code, ExitCode::good);
  EXPECT_EQ(replayed(start + "device 1\nfree a size=1000\n").code, ExitCode::good);
  EXPECT_EQ(replayed(start + "device 1\nfree a stream=s1\n").code, ExitCode::good);
  EXPECT_EQ(replayed(start + "free a size=1024\n").code, ExitCode::violated);
  EXPECT_EQ(replayed(start + "free a stream=s0\n").code, ExitCode::violated);
  EXPECT_EQ(replayed(start + "free a on s2 size=1000\n").code, ExitCode::unsupported);
  const std::string placed = "segment 0x7e0000000000 2MiB small s1\nblock w 2MiB\n";
  EXPECT_EQ(replayed(placed + "free w size=2MiB stream=s1\n").code, ExitCode::good);
  EXPECT_EQ(replayed(placed + "free w size=1MiB\n").code, ExitCode::violated);
}

TEST(Replay, WhatTheAllocatorNeverSeesIsLeftOutAndCounted) {
  const auto program = cairn::testing::parse_program(
      "alloc a 2MiB\nlaunch s0 a 5\nadvance 5\nexpect allocated == 2MiB\nfree null\n");
  ASSERT_TRUE(program);
  const auto plan = plan_replay(*program);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->operations.size(), 1U);
  EXPECT_EQ(plan->skipped.at("kernels"), 1U);
  EXPECT_EQ(plan->skipped.at("expectations"), 1U);
}

}  // namespace
}  // namespace cairn::tool
