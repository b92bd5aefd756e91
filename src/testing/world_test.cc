#include "testing/world.h"

#include <gtest/gtest.h>

#include "testing/parser.h"
#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

TEST(World, AnEmptyProgramHolds) { holds(""); }

TEST(World, FreedMemoryIsHandedOutAgainOnItsStreamWithoutADriverCall) {
  holds(
      "alloc a 1MiB s1 = 0x100000000000\n"
      "expect calls(malloc) == 1\n"
      "free a\n"
      "alloc b 1MiB s1 = 0x100000000000\n"
      "expect calls(malloc) == 1\n"
      "alloc c 1MiB s2\n"
      "expect calls(malloc) == 2\n"
      "expect addr(b) == addr(a)\n"
      "expect addr(c) != addr(a)\n"
      "expect stream(b) == s1\n"
      "expect stream(c) != stream(b)\n");
}

TEST(World, EveryQuantityCanBeAskedFor) {
  holds(
      "alloc a 100\nalloc b 3MiB s1\nfree b\nreset calls\nalloc c 600\n"
      "expect reserved == 22MiB\nexpect reserved(small) == 2MiB\nexpect reserved(large)==20MiB\n"
      "expect allocated == 1536\nexpect allocated(large) == 0\nexpect active == allocated\n"
      "expect requested == 700\nexpect requested(a) == 100\nexpect requested(small) == 700\n"
      "expect inactive_split == 2MiB - 1536\nexpect segments == 2\nexpect segments(large) == 1\n"
      "expect blocks(allocated) == 2\nexpect blocks(active,small) == 2\n"
      "expect blocks(inactive_split) == 1\nexpect peak_allocated == 3MiB + 512\n"
      "expect peak_blocks(allocated,large) == 1\n"
      "expect free_blocks == 2\nexpect live_blocks == 2\nexpect pending_blocks == 0\n"
      "expect ooms + retries + rejections + syncs == 0\nexpect calls(malloc) == 0\n"
      "expect size(a) == 512\nexpect events(a) == 0\nexpect addr(c) - addr(a) == 512\n"
      "expect stream(a) == s0\nexpect largest_free == 20MiB\nexpect device_free == 80GiB - 22MiB\n"
      "expect overlaps == 0\nexpect violations == 0\nexpect -1 < 0\n"
      "reset peak\nexpect peak_allocated == allocated\nreset accumulated\n");
}

TEST(World, DevicesAreApart) {
  holds(
      "gpu 0 memory=1GiB\ngpu 1 memory=64MiB adjacent\n"
      "T1: device 1\nT1: alloc a 20MiB\nalloc b 1MiB\n"
      "expect reserved@1 == 20MiB\nexpect reserved == 2MiB\n"
      "expect addr(a) == 0x100000000000 + 1024GiB\nexpect calls(malloc)@1 == 1\n"
      "device 1\nalloc c 20MiB\nexpect addr(c) == addr(a) + 20MiB\nexpect device_free@1 == 24MiB\n"
      "T1: exit\nT1: alloc d 512\nexpect addr(d) == addr(b) + 1MiB\n");
}

TEST(World, AFailureIsAsExpectedOrFailsTheProgram) {
  const std::string small = "gpu 0 memory=32MiB\nalloc a 20MiB\n";
  holds(small +
        "alloc b 20MiB -> out_of_memory\nexpect ooms == 1\nexpect oom(tried) == 20MiB\n"
        "expect oom(total) == 32MiB\nexpect oom(free) == 12MiB\nexpect oom(allocated) == 20MiB\n"
        "expect oom(unallocated) + oom(private) == 0\nexpect oom(limit) == 32MiB\n");
  violated(small + "alloc b 20MiB\n", 3, "expected success");
  violated(small + "free a -> invalid_argument\n", 3, "expected invalid_argument");
  violated(small + "alloc b 20MiB -> cuda_error\n", 3, "expected cuda_error");
  holds("alloc a 1152921504606846976 -> out_of_memory\nalloc b 1 align=3 -> invalid_argument\n");
}

TEST(World, AFailedAllocationLeavesItsNameAsItWas) {
  holds(
      "gpu 0 memory=32MiB\nalloc a 20MiB\nalloc a 20MiB -> out_of_memory\nexpect size(a) == 20MiB\n"
      "free a\nfree a -> invalid_argument\n");
}

TEST(World, NothingIsNull) {
  holds(
      "alloc a 0\nexpect addr(a) == 0\nexpect size(a) == 0\nfree a\nfree a\nalloc a 512\nfree "
      "null\n"
      "free 0x1234 -> invalid_argument\nfree a+256 -> invalid_argument\nfree a\n");
}

TEST(World, ACheckedFreeNamesSizeAndStream) {
  holds(
      "alloc a 1000 s1\nfree a size=1024 -> invalid_argument\nfree a stream=s0 -> "
      "invalid_argument\n"
      "free a size=1000 stream=s2 -> invalid_argument\nfree a size=1000\n"
      "alloc a 1000 s1\nfree a stream=s1 size=1000\nalloc a 1000 s1\nfree a stream=s1\n");
}

TEST(World, MemoryCanBeThereFromTheStart) {
  const std::string start =
      "segment 0x7e0000000000 20MiB large s1\nblock w 4MiB\nblock - 16MiB\n"
      "segment 0x7e0040000000 2MiB small s0\nblock v 2MiB\n";
  holds(start +
        "expect reserved == 22MiB\nexpect addr(v) == 0x7e0040000000\nexpect requested(w) == 4MiB\n"
        "alloc a 2MiB s1 = 0x7e0000400000\n"
        "expect_segment 0x7e0000000000 20MiB large s1\n"
        "expect_block 4MiB active_allocated requested=4194304\n"
        "expect_block 2MiB active_allocated\nexpect_block 14MiB inactive\n"
        "free w\nfree a\nfree v\nempty_cache\nexpect reserved == 0\nexpect device_free == 80GiB\n");
  violated(start + "expect_segment 0x7e0000000000 20MiB small s1\nexpect_block 20MiB inactive\n", 6,
           "large");
  violated(start + "expect_segment 0x7e0000000000 20MiB large s1\nexpect_block 20MiB inactive\n", 7,
           "4MiB active_allocated");
  violated(start +
               "expect_segment 0x7e0000000000 20MiB large s1\n"
               "expect_block 4MiB active_allocated requested=4MiB\nexpect_block 16MiB inactive\n"
               "expect_segment 0x7e0000000000 20MiB large s1\n"
               "expect_block 4MiB active_allocated requested=1MiB\nexpect_block 16MiB inactive\n",
           10, "requested 1048576");
  violated(start + "expect_segment 0x200 2MiB large s1\nexpect_block 2MiB inactive\n", 6,
           "no segment there");
  mistaken(
      "segment 0x7e0000000000 4MiB large s1\nblock w 4MiB\n"
      "segment 0x7e0000200000 4MiB large s1\nblock x 4MiB\n",
      3, "overlaps");
  mistaken("segment 0x7e0000000000 4MiB large s1\nblock w 2MiB\nblock w 2MiB\n", 3, "live already");
}

TEST(World, TheNextSegmentLiesWhereItIsToldOnce) {
  holds("next_segment 0x7e0040000000\nalloc a 1 = 0x7e0040000000\nalloc b 2MiB = 0x100000000000\n");
  mistaken("alloc a 1\nnext_segment 0x100000000000\n", 2, "overlaps");
  mistaken(
      "next_segment 0x7e0000000000\nalloc a 1\nalloc c 1 s1\nnext_segment 0x7dffffe00000\n"
      "alloc b 2MiB\n",
      4, "overlaps");
}

TEST(World, FaultsStrikeWhereTheySay) {
  holds(
      "fault malloc at=2 error=out_of_memory\nalloc a 512\n"
      "alloc b 2MiB\nexpect retries == 1\nexpect calls(malloc) == 3\n");
  holds("fault malloc at=1 error=invalid_value\nalloc a 1 -> cuda_error\nalloc a 1\n");
  holds(
      "alloc a 1\nfree a\nfault free at=1 error=unknown\nempty_cache -> cuda_error\nempty_cache\n");
  const RunReport report = run_text("fault malloc at=2 error=unsupported\nalloc a 1\n");
  EXPECT_EQ(report.verdict, Verdict::holds);
  ASSERT_EQ(report.notes.size(), 1u);
  EXPECT_EQ(report.notes[0], "never came: fault malloc at=2 error=not_supported");
}

TEST(World, WhatDoesNotHoldIsToldWithLineExpectedAndFound) {
  const RunReport report = run_text("alloc a 512\n\n  expect reserved == 1MiB\nalloc b 512\n");
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.line, 3);
  EXPECT_EQ(report.column, 3);
  EXPECT_EQ(report.statement, "expect reserved == 1MiB");
  EXPECT_EQ(report.expected, "reserved == 1MiB");
  EXPECT_EQ(report.found, "2097152 on the left, 1048576 on the right");
  EXPECT_EQ(report.steps, 1u);
  violated("alloc a 512 = 0x200\n", 1, "expected 0x200");
}

TEST(World, MistakesOfTheProgramAreNotTheAllocators) {
  mistaken("free a\n", 1, "'a' is not known");
  mistaken("expect addr(a) == 0\n", 1, "'a' is not known");
  mistaken("expect reserved(P) == 0\n", 1, "no pool 'P'");
  mistaken("expect stream(a) == s1\n", 1, "'a' is not known");
  mistaken("expect 1 == s1\n", 1, "neither a quantity nor a stream");
  mistaken("expect oom(tried) == 1\n", 1, "no out-of-memory");
  mistaken("alloc a 1\nalloc a 1\n", 2, "is live");
  mistaken("alloc a 1\nfree a\nalloc b 1\nfree a\n", 4, "belongs to 'b'");
  mistaken("alloc a 1024\nalloc z 1\nfree a\nalloc b 1\nalloc c 1\nfree a+512\n", 6,
           "belongs to 'c'");
  mistaken("device 1\n", 1, "no device 1");
  mistaken("sync gpu=1\n", 1, "no device 1");
  mistaken("expect reserved@1 == 0\n", 1, "no device 1");
  mistaken("stream s1\nalloc a 1 s1\nstream s1\n", 3, "exists already");
}

TEST(World, SettingsCountTogetherAndBadOnesAreAMistakeOfTheirLine) {
  holds(
      "conf max_split_size_mb:32\nconf large_segment_size_mb:30\nalloc a 2MiB\n"
      "expect reserved == 30MiB\n");
  const RunReport report = run_text("conf max_split_size_mb:32,\n\nconf max_split_size_mb:x\n");
  EXPECT_EQ(report.verdict, Verdict::mistaken) << in_words(report);
  EXPECT_EQ(report.line, 3);
  EXPECT_GE(report.column, 6);
  mistaken("conf no_such_key:1\n", 1, "no_such_key");
  for (const std::string setting : {"backend:cudaMallocAsync", "expandable_segments:True",
                                    "graph_capture_record_stream_reuse:True"}) {
    unsupported("conf " + setting + "\n", 1, setting.substr(0, setting.find(':')));
  }
}

TEST(World, WhatCannotBeDoneYetIsSaidOfItsLine) {
  for (const char* statement :
       {"alloc_at b 1 s1 0x200", "pool P", "enter P", "leave P", "release P", "capture_begin G s1",
        "capture_end G", "replay G s1", "destroy_graph G", "checkpoint C P", "restore C",
        "peer 0 1", "share a H", "open H b", "close b", "empty_cache P", "parallel {\n}",
        "schedule 0 1"})
    unsupported(std::string("alloc a 1 s1\n") + statement + "\n", 2);
  unsupported("alloc a 1 s1\nfree a on s2 size=1\n", 2, "checked free");
}

TEST(World, AStepIsToldFromADivergence) {
  const Program program = *parse_program("gpu 0 memory=32MiB\nalloc a 64MiB\nalloc b 1\nfree c\n");
  World world(program);
  using Kind = StepResult::Kind;
  EXPECT_EQ(world.step(program.statements[0]).kind, Kind::ok);
  const StepResult failed = world.step(program.statements[1]);
  EXPECT_EQ(failed.kind, Kind::failed);
  EXPECT_EQ(failed.error, ErrorCode::out_of_memory);
  EXPECT_EQ(world.step(program.statements[2]).kind, Kind::ok);
  EXPECT_EQ(world.step(program.statements[3]).kind, Kind::mistake);
  EXPECT_EQ(world.step(program.statements[2]).kind, Kind::mistake);
  EXPECT_EQ(world.finish().kind, Kind::ok);
}

TEST(World, ProgressIsToldAfterEachStep) {
  RunOptions options;
  std::vector<std::uint64_t> steps;
  options.progress = [&](std::uint64_t n) { steps.push_back(n); };
  options.world.lockstep = false;
  options.world.checkers = false;
  const RunReport report = run_text("alloc a 1\nfree a\nexpect reserved == 2MiB\n", options);
  EXPECT_EQ(report.verdict, Verdict::holds);
  EXPECT_EQ(steps, (std::vector<std::uint64_t>{1, 2, 3}));
  ASSERT_EQ(report.stats.size(), 1u);
  EXPECT_EQ(report.stats[0].reserved_bytes.all.peak, std::int64_t{2} << 20);
}

}  // namespace
}  // namespace cairn::testing
