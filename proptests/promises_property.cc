// The allocator's promises, each by itself over tapes of its own taste. README.md says what each
// means.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>

#include "property.h"

namespace {

using cairn::testing::all_promises;
using cairn::testing::holds;
using cairn::testing::OpKind;
using cairn::testing::OpRun;
using cairn::testing::Property;
using cairn::testing::short_tapes;
using cairn::testing::Tally;
using cairn::testing::Tape;
using cairn::testing::Taste;
using cairn::testing::Weights;
using cairn::testing::WorldOptions;

Weights more(std::initializer_list<std::pair<OpKind, int>> wanted) {
  Weights weights{};
  for (const auto& [kind, weight] : wanted) weights.at(static_cast<std::size_t>(kind)) = weight;
  return weights;
}

Taste any_taste() {
  Taste taste;
  taste.loses_devices = true;
  return taste;
}

Taste short_of_memory() {
  Taste taste;
  taste.is_short = true;
  taste.more = more({{OpKind::alloc, 40}});
  return taste;
}

TEST(Promises, NoTwoLiveBlocksOverlap) {
  EXPECT_TRUE(
      holds("no_overlap",
            {{cairn::testing::no_overlap}, any_taste(), {{"allocations", 2000}, {"hits", 800}}}));
}

TEST(Promises, BlocksTileSegmentsAndSegmentsAreWhatTheDriverGave) {
  EXPECT_TRUE(holds("tiling", {{cairn::testing::tiling}, any_taste(), {{"blocks", 50000}}}));
}

TEST(Promises, BytesAreConserved) {
  EXPECT_TRUE(holds("conservation", {{cairn::testing::conservation},
                                     any_taste(),
                                     {{"allocations", 2000}, {"larger blocks", 100}}}));
}

// With nothing beside it but the judge: neither the model nor a checker sees what is early.
TEST(Promises, NoMemoryIsReusedEarly) {
  Taste taste;
  taste.operations = 300;
  taste.has_faults = false;
  taste.more = more({{OpKind::launch, 30}, {OpKind::use, 10}, {OpKind::free, 10}});
  EXPECT_TRUE(holds("no_early_reuse", {{cairn::testing::no_early_reuse},
                                       taste,
                                       {{"uses", 1000},
                                        {"frees on another stream", 100},
                                        {"blocks that wait", 300},
                                        {"hits", 1000}}}));
}

TEST(Promises, WhatTheCacheCanServeSucceeds) {
  Taste taste;
  taste.is_short = true;
  EXPECT_TRUE(
      holds("must_succeed", {{cairn::testing::must_succeed},
                             taste,
                             {{"hits", 600}, {"aligned hits", 50}, {"new segments", 300}}}));
}

TEST(Promises, OutOfMemoryIsSaidOnlyWhenNothingCouldHelp) {
  EXPECT_TRUE(holds("no_rung_left",
                    {{cairn::testing::no_rung_left},
                     short_of_memory(),
                     {{"out of memory", 200}, {"above the limit", 200}, {"rejections", 20}}}));
}

TEST(Promises, AFailureKeepsThePromisedState) {
  Taste taste = short_of_memory();
  taste.loses_devices = true;
  taste.more = more({{OpKind::alloc, 20}, {OpKind::fault, 10}, {OpKind::bad_free, 5}});
  EXPECT_TRUE(holds(
      "promised_state",
      {{cairn::testing::promised_state},
       taste,
       {{"failed operations", 2000}, {"out of memory", 200}, {"errors of the driver", 200}}}));
}

TEST(Promises, StatisticsAreARecount) {
  Taste taste = any_taste();
  taste.more = more({{OpKind::reset, 3}});
  EXPECT_TRUE(
      holds("statistics",
            {{cairn::testing::statistics}, taste, {{"operations", 6000}, {"resets", 100}}}));
}

TEST(Promises, TheQuantitiesOfAnOutOfMemoryAddUp) {
  EXPECT_TRUE(holds("memory_report", {{cairn::testing::memory_report},
                                      short_of_memory(),
                                      {{"out of memory", 400}, {"rejections", 20}}}));
}

TEST(Promises, AllIsReturnedAtTheEnd) {
  Taste taste;
  taste.operations = 120;
  EXPECT_TRUE(holds("all_returned",
                    {{cairn::testing::all_returned},
                     taste,
                     {{"devices that were in use", 100}, {"blocks live before the end", 150}}}));
}

TEST(Promises, EventsThatAreDoneLetBlocksGo) {
  Taste taste;
  taste.more = more({{OpKind::sync, 30}, {OpKind::use, 20}, {OpKind::poll, 4}});
  EXPECT_TRUE(holds("event_progress",
                    {{cairn::testing::event_progress}, taste, {{"blocks that became free", 60}}}));
}

// All of them at once, with the model and the checkers.
TEST(Promises, HoldTogether) {
  Property property{all_promises(), {}, {{"operations", 4000}}, true, true};
  property.taste.operations = 100;
  EXPECT_TRUE(holds("together", property));
}

// Short tapes, which RapidCheck itself makes shorter and simpler, field by field.
TEST(Promises, HoldOverShortTapes) {
  Tally tally;
  std::uint64_t cases = 0;
  WorldOptions options;
  options.make_observer = watch(all_promises(), tally);
  EXPECT_TRUE(rc::check("short_tapes", [&] {
    const Tape tape = *short_tapes();
    const OpRun run = run_tape(tape, options);
    ++cases;
    if (!run.holds()) RC_FAIL(in_words(run));
  }));
  EXPECT_GE(tally.of("operations"), cases * 5);
}

}  // namespace
