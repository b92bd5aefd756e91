// Lies about streams and events, which the model must see by itself, and the judge by itself.
#include <gtest/gtest.h>

#include <memory>

#include "allocator/all_devices.h"
#include "invariants/catalogue/report.h"
#include "testing/liar_in_test.h"
#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

struct SkipsEverySecondRecord : Liar {
  using Liar::Liar;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    if (++records_ % 2 == 0) return Done{};
    return Liar::event_record(stream, event);
  }
  int records_ = 0;
};

struct SaysAllIsDone : Liar {
  using Liar::Liar;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    const auto said = Liar::event_query(device, event);
    return said ? DriverResult<bool>(true) : said;
  }
};

struct WaitsForNoStream : Liar {
  using Liar::Liar;
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
};

struct WaitsForNoEvent : Liar {
  using Liar::Liar;
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
};

struct RecordsOnTheDefaultStream : Liar {
  using Liar::Liar;
  DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
    return Liar::event_record({stream.device, 0}, event);
  }
};

struct AsksForTheFirstEvent : Liar {
  using Liar::Liar;
  DriverResult<bool> event_query(DeviceIndex device, EventHandle event) override {
    if (first_.value == 0) first_ = event;
    return Liar::event_query(device, first_);
  }
  EventHandle first_;
};

struct SaysAnotherAmountIsFree : Liar {
  using Liar::Liar;
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    const auto said = Liar::mem_info(device);
    return said ? DriverResult<MemoryInfo>({said->free + Bytes{1}, said->total}) : said;
  }
};

struct KeepsMemory : Liar {
  using Liar::Liar;
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
};

struct KeepsEvents : Liar {
  using Liar::Liar;
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
};

template <class Lie>
RunReport run_with(const std::string& text, bool lockstep) {
  RunOptions options;
  options.world.lockstep = lockstep;
  options.world.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  return run_text(text, options);
}

// The model sees the lie at a line, and the judge by itself what comes of it at a later one.
template <class Lie>
void is_seen(const std::string& text, int by_model, int by_judge) {
  const RunReport model = run_with<Lie>(text, true);
  EXPECT_EQ(model.verdict, Verdict::violated) << in_words(model);
  EXPECT_EQ(model.line, by_model) << in_words(model);
  const RunReport judge = run_with<Lie>(text, false);
  EXPECT_EQ(judge.verdict, Verdict::violated) << in_words(judge);
  EXPECT_EQ(judge.line, by_judge) << in_words(judge);
  EXPECT_EQ(judge.expected, "violations == 0");
  holds(text);
}

// The canary: of a block used on two other streams, free() records the event of only one.
constexpr const char* used_by_two =
    "alloc a 1MiB s1\n"
    "use a s2\n"
    "use a s3\n"
    "launch s2 a 1\n"
    "launch s3 a 9\n"
    "free a\n"
    "advance 2\n"
    "alloc b 1MiB s1\n"
    "launch s1 b 1\n";

TEST(WorldPlanted, ARecordThatIsLeftOutIsSeen) {
  is_seen<SkipsEverySecondRecord>(used_by_two, 6, 9);
}

TEST(WorldPlanted, ARecordOnAnotherStreamIsSeen) {
  is_seen<RecordsOnTheDefaultStream>(used_by_two, 6, 9);
}

TEST(WorldPlanted, AnEventThatIsSaidToBeDoneIsSeen) { is_seen<SaysAllIsDone>(used_by_two, 8, 9); }

TEST(WorldPlanted, AStreamThatIsNotWaitedForIsSeen) {
  is_seen<WaitsForNoStream>("alloc a 1MiB s1\nlaunch s1 a 9\nfree a\nempty_cache\n", 4, 4);
}

TEST(WorldPlanted, AnEventThatIsNotWaitedForIsSeen) {
  is_seen<WaitsForNoEvent>("alloc a 1MiB s1\nuse a s2\nlaunch s2 a 9\nfree a\nempty_cache\n", 5, 5);
}

TEST(WorldPlanted, AnInvariantThatBreaksOnAnotherThreadIsSeen) {
  struct Breaks : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      invariants::report(invariants::segments_disjoint, "two segments", "file", 1);
      return Liar::malloc(device, size);
    }
  };
  const RunReport report = run_with<Breaks>("alloc a 0\nT1: alloc b 1\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.line, 2);
  EXPECT_EQ(report.found, "two segments");
}

TEST(WorldPlanted, AQueryOfAnotherEventIsSeen) {
  const RunReport report = run_with<AsksForTheFirstEvent>(used_by_two, true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.line, 8);
  EXPECT_EQ(report.expected.substr(0, 23), "event_query of event 0x");
  EXPECT_EQ(report.found.substr(0, 23), "event_query of event 0x");
}

TEST(WorldPlanted, AQuantityOfAnOutOfMemoryThatDiffersIsNamed) {
  const RunReport report =
      run_with<SaysAnotherAmountIsFree>("gpu 0 memory=4MiB\nalloc a 8MiB -> out_of_memory\n", true);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "out of memory, free: 4194304");
  EXPECT_EQ(report.found, "out of memory, free: 4194305");
}

// What wind_down() finds, else end(), without model or checkers.
template <class Lie>
StepResult left_over(const std::string& text) {
  WorldOptions options;
  options.lockstep = false;
  options.checkers = false;
  options.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  const Program program = *parse_program(text);
  World world(program, options);
  for (const Statement& statement : program.statements)
    EXPECT_EQ(world.step(statement).kind, StepResult::Kind::ok);
  StepResult result = world.wind_down();
  if (result.kind == StepResult::Kind::ok) result = world.end();
  return result;
}

TEST(WorldPlanted, WhatIsLeftOverIsSeen) {
  const std::string text = "alloc a 1 s1\nuse a s2\nfree a\n";
  EXPECT_EQ(left_over<Liar>(text).kind, StepResult::Kind::ok);
  EXPECT_EQ(left_over<KeepsMemory>(text).expected, "nothing out at the driver on device 0");
  EXPECT_EQ(left_over<KeepsEvents>(text).expected, "no event at the end");
}

TEST(WorldPlanted, AUseThatComesFromNowhereIsSeen) {
  const auto use_it = [](AllDevices& allocator) {
    const Address block{0x100000000000};
    const auto used = allocator.record_stream(block, reinterpret_cast<Stream>(2), 0);
    ASSERT_TRUE(static_cast<bool>(used));
  };
  RunOptions options;
  options.world.meddle = use_it;
  options.world.steps_between_maps = 1;
  const RunReport report = run_text("alloc a 1\n", options);
  EXPECT_EQ(report.verdict, Verdict::violated);
  EXPECT_EQ(report.expected, "block 0x100000000000: not used by other streams");
  EXPECT_EQ(report.found.substr(0, 39), "block 0x100000000000: used by stream 0x");
}

}  // namespace
}  // namespace cairn::testing
