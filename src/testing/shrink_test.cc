#include "testing/shrink.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "allocator/all_devices.h"
#include "heap/heap.h"
#include "testing/liar_in_test.h"
#include "testing/op_run.h"
#include "testing/parser.h"
#include "testing/play.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

// ---- over drivers that lie ----

// Takes nothing back, and says that it did.
struct KeepsAll : Liar {
  using Liar::Liar;
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
};
struct SaysDone : Liar {
  using Liar::Liar;
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
};
struct RecordsNothing : Liar {
  using Liar::Liar;
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
};
struct WaitsForNothing : Liar {
  using Liar::Liar;
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
};
struct SaysDoneAndKeepsAll : SaysDone {
  using SaysDone::SaysDone;
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
};

template <class Lie>
WorldOptions over() {
  WorldOptions options;
  options.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  return options;
}

// The judge alone looks on.
template <class Lie>
WorldOptions judged_over() {
  WorldOptions options = over<Lie>();
  options.lockstep = false;
  options.checkers = false;
  return options;
}

OpRun first_finding(const WorldOptions& options, std::uint64_t seed = 1) {
  OpRun run;
  for (; run.holds(); ++seed) run = run_seed(seed, 300, options);
  return run;
}

// The shortest Program finds the same by itself, as it is written, and nothing without the lie.
void expect_short(const WorldOptions& options, std::size_t most_statements) {
  for (const std::uint64_t seed : {1u, 100u, 200u}) {
    const OpRun run = first_finding(options, seed);
    const Program shortest = shrink(run.program, options);
    const std::string text = print_program(shortest);
    EXPECT_LE(shortest.statements.size(), most_statements) << text;
    EXPECT_EQ(bucket_of(play(shortest, options).result), bucket_of(run.result)) << text;
    const auto read = parse_program(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(*read, shortest);
    EXPECT_EQ(play(*read, options).as_it_went, shortest) << text;
    EXPECT_NE(play(shortest).result.kind, StepResult::Kind::finding) << text;
  }
}

TEST(Shrink, LeavesThreeLinesForMemoryThatNeverGoesBack) { expect_short(over<KeepsAll>(), 3); }
TEST(Shrink, LeavesLittleForAnEventThatIsNotDone) { expect_short(judged_over<SaysDone>(), 8); }
TEST(Shrink, LeavesLittleForAnEventThatIsNotRecorded) {
  expect_short(judged_over<RecordsNothing>(), 8);
}
TEST(Shrink, LeavesLittleForAStreamThatIsNotWaitedFor) {
  expect_short(judged_over<WaitsForNothing>(), 8);
}

TEST(Shrink, StaysWithTheKindOfFindingThatItBeganWith) {
  const WorldOptions options = judged_over<SaysDoneAndKeepsAll>();
  std::set<std::string> buckets;
  for (const std::uint64_t seed : {20u, 40u}) {
    const OpRun run = first_finding(options, seed);
    const Program shortest = shrink(run.program, options);
    EXPECT_EQ(bucket_of(play(shortest, options).result), bucket_of(run.result));
    buckets.insert(bucket_of(run.result));
  }
  EXPECT_GE(buckets.size(), 2u);  // Else nothing was there to slip to.
}

// At its end a World's allocator waits for the broken block, where hooks at level heap look at it.
TEST(Shrink, OutlivesWorldsWhoseHeapIsBroken) {
  WorldOptions options;
  options.meddle = [](AllDevices& allocator) {
    allocator.device(0).inspect([](const Heap& heap) {
      for (const auto& [address, segment] : heap.segments()) {
        auto* first = const_cast<Block*>(segment.first);
        if (first->event_count != 0) first->registration_counter = 99;
      }
    });
  };
  const auto program = parse_program("alloc a 20MiB s1\nuse a s2\nfree a\npoll\n");
  ASSERT_TRUE(program);
  EXPECT_EQ(bucket_of(play(*program, options).result), "B4");
  EXPECT_EQ(print_program(shrink(*program, options)), "alloc a 512\nuse a s1\n");
}

// ---- by any test ----

// Shrinks the text by what must be true of it; makes sense of nothing else.
template <class Holds>
std::string shrunk(const std::string& text, const Holds& still_fails) {
  const auto program = parse_program(text);
  EXPECT_TRUE(program);
  return print_program(shrink(*program, [&](const Program& candidate) {
    return still_fails(candidate) ? std::optional(candidate) : std::nullopt;
  }));
}

template <class Wanted>
std::ptrdiff_t count(const Program& program) {
  return std::ranges::count_if(program.statements, [](const Statement& statement) {
    return std::holds_alternative<Wanted>(statement.operation);
  });
}

// The last of its kind, of which there is one.
template <class Wanted>
const Wanted& last(const Program& program) {
  const Wanted* found = nullptr;
  for (const Statement& statement : program.statements)
    if (const auto* one = std::get_if<Wanted>(&statement.operation)) found = one;
  return *found;
}

TEST(Shrink, TakesOutWhatIsNeededOnlyForOneAnother) {
  const auto has_as_many = [](const Program& program) {
    return count<Poll>(program) == count<EmptyCache>(program) && count<Advance>(program) == 1;
  };
  EXPECT_EQ(shrunk("poll\nadvance 1\nempty_cache\n", has_as_many), "advance 1\n");
}

TEST(Shrink, TakesOutASegmentWithItsBlocks) {
  const std::string text =
      "segment 0x7e0000000000 2MiB small s0\nblock a 1MiB\nblock - 1MiB\nalloc b 512\n";
  const auto has_alloc = [](const Program& program) { return count<Alloc>(program) == 1; };
  EXPECT_EQ(shrunk(text, has_alloc), "alloc a 512\n");
}

TEST(Shrink, MergesDeclaredBlocks) {
  const std::string text =
      "segment 0x7e0000000000 2MiB small s4\nblock x 1MiB\nblock - 512KiB\nblock y 512KiB\n";
  const auto has_name = [](const Program& program) {
    return count<SegmentDecl>(program) == 1 &&
           print_program(program).find('y') != std::string::npos;
  };
  EXPECT_EQ(shrunk(text, has_name), "segment 0x7e0000000000 2MiB small s0\nblock y 2MiB\n");
}

TEST(Shrink, MakesSizesPlain) {
  const auto is_large = [](const Program& program) {
    return count<Alloc>(program) == 1 && last<Alloc>(program).size >= Bytes{3000000};
  };
  EXPECT_EQ(shrunk("alloc x7 3131331 s4 align=4KiB\n", is_large), "alloc a 3MiB\n");
}

// Neither size can change alone.
TEST(Shrink, MakesEqualSizesPlainTogether) {
  const auto are_equal = [](const Program& program) {
    if (count<Alloc>(program) != 2) return false;
    return std::get<Alloc>(program.statements[0].operation).size ==
           std::get<Alloc>(program.statements[1].operation).size;
  };
  EXPECT_EQ(shrunk("alloc x 7777\nalloc y 7777\n", are_equal), "alloc a 512\nalloc b 512\n");
}

TEST(Shrink, NeedsFewThreadsDevicesAndStreams) {
  const std::string text =
      "gpu 0 memory=64MiB adjacent\ngpu 2 memory=1GiB reuse_addresses\nT7: device 2\n"
      "T7: alloc x3 512 s9\nlaunch s8 x3:r 1000\nT7: use x3 s8\nsync s8 gpu=2\n";
  const auto has_use = [](const Program& program) {
    return count<Alloc>(program) == 1 && count<Use>(program) == 1 &&
           last<Use>(program).stream != "s0";
  };
  EXPECT_EQ(shrunk(text, has_use), "alloc a 512\nuse a s1\n");
}

TEST(Shrink, KeepsDistinctWhatMustBe) {
  const std::string text = "T7: launch s8 x3:r,y 1000\nT4: launch s5 z,x3 1000000\n";
  const auto differ = [](const Program& program) {
    if (count<Launch>(program) != 2) return false;
    const Statement& one = program.statements[0];
    const Statement& other = program.statements[1];
    return one.thread != other.thread &&
           std::get<Launch>(one.operation).stream != std::get<Launch>(other.operation).stream;
  };
  EXPECT_EQ(shrunk(text, differ), "launch s0 a 1\nT1: launch s1 b 1\n");
}

TEST(Shrink, PutsADefaultStreamInPlaceOfOneThatEnds) {
  const auto is_made_and_used = [](const Program& program) {
    return count<MakeStream>(program) == count<DestroyStream>(program) &&
           count<Launch>(program) == 1;
  };
  const std::string text = "stream s3 gpu=1 blocking\nlaunch s3 x 1\ndestroy_stream s3\n";
  EXPECT_EQ(shrunk(text, is_made_and_used), "launch s0 a 1\n");
}

TEST(Shrink, TakesSettingsOutOneByOne) {
  const std::string text =
      "conf max_split_size_mb:20,roundup_power2_divisions:[1:2,2:8,>:4],best_fit_tie:address\n";
  const auto has_divisions = [](const Program& program) {
    return print_program(program).find("[1:2,2:8,>:4]") != std::string::npos;
  };
  EXPECT_EQ(shrunk(text, has_divisions), "conf roundup_power2_divisions:[1:2,2:8,>:4]\n");
}

TEST(Shrink, MakesFaultsAndFreesPlain) {
  const std::string text =
      "fault stream_sync at=3 error=invalid_value count=forever sticky\n"
      "free a+512 size=512 stream=s3\n";
  const auto has_both = [](const Program& program) {
    return count<Fault>(program) == 1 && count<Free>(program) == 1;
  };
  EXPECT_EQ(shrunk(text, has_both), "fault stream_sync at=1 error=out_of_memory\nfree a\n");
}

TEST(Shrink, PlaysNoProgramTwiceAndNoMoreThanItMay) {
  const OpRun run = first_finding(over<KeepsAll>());
  std::multiset<std::string> played;
  const Program shortest = shrink(
      run.program,
      [&](const Program& candidate) {
        played.insert(print_program(candidate));
        const bool fails = count<Free>(candidate) > 3;
        return fails ? std::optional(candidate) : std::nullopt;
      },
      50);
  EXPECT_EQ(played.size(), 50u);
  for (const std::string& text : played) EXPECT_EQ(played.count(text), 1u);
  EXPECT_LT(shortest.statements.size(), run.program.statements.size());
}

// What goes differently is asked again: here the candidate fails, but not as it went.
TEST(Shrink, WhatWentDifferentlyMustFailByItself) {
  const auto program = parse_program("alloc a 512\nfree a\npoll\n");
  ASSERT_TRUE(program);
  const Program shortest = shrink(*program, [](const Program& candidate) -> std::optional<Program> {
    if (count<Free>(candidate) == 0) return std::nullopt;
    Program without_free = candidate;
    if (candidate.statements.size() < 2) without_free.statements.clear();
    return without_free;
  });
  EXPECT_EQ(shortest.statements.size(), 2u);
  EXPECT_EQ(count<Free>(shortest), 1);
}

// ---- kinds of findings ----

std::string bucket(const std::string& expected, const std::string& found) {
  StepResult result;
  result.kind = StepResult::Kind::finding;
  result.expected = expected;
  result.found = found;
  return bucket_of(result);
}

TEST(Bucket, IsTheKindOfCheckWithoutAddressesAndNumbers) {
  EXPECT_EQ(bucket("B1: A block's size is a positive multiple of 512.", "free block"), "B1");
  EXPECT_EQ(bucket("allocated_bytes.all: current 3", ""), "allocated_bytes.all");
  EXPECT_EQ(bucket("malloc of 2MiB on device 0", "no more driver calls"), "malloc of on device");
  EXPECT_EQ(bucket("success at 0x100000", "success at 0x200000"), "success at");
  EXPECT_EQ(bucket("block 0x200: used by stream 0x1 of device 0", ""), "block");
  EXPECT_EQ(bucket("12 live blocks", "11 live blocks"), "live blocks");
  EXPECT_EQ(bucket("violations == 0", "handed out 512 bytes at 0x1"), "violation: handed out");
  EXPECT_EQ(bucket("0x100", "0x200"), "finding");
}

TEST(Bucket, IsEmptyWhereNothingWasFound) {
  StepResult result;
  result.kind = StepResult::Kind::failed;
  result.expected = "success";
  EXPECT_EQ(bucket_of(result), "");
}

TEST(Play, WritesDownWhatFailedAndLeavesOutWhatMakesNoSense) {
  const auto program = parse_program(
      "gpu 0 memory=4MiB\nfree nobody\nalloc a 8MiB\nalloc b 512\nalloc b 512\nfree b\n");
  ASSERT_TRUE(program);
  const Played played = play(*program);
  EXPECT_EQ(played.result.kind, StepResult::Kind::ok) << played.result.found;
  EXPECT_EQ(print_program(played.as_it_went),
            "gpu 0 memory=4MiB\nalloc a 8MiB -> out_of_memory\nalloc b 512\nfree b\n");
}

}  // namespace
}  // namespace cairn::testing
