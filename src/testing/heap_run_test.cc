// Runs on a heap alone hold; what is planted in the heap is found, and comes out as a Program.
#include "testing/heap_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "testing/op_draws.h"
#include "testing/parser.h"
#include "testing/printer.h"
#include "testing/world.h"

namespace cairn::testing {
namespace {

constexpr StreamId default_stream = legacy_default_stream;

HeapRunOptions with(std::function<void(Heap& heap, std::uint64_t operation)> meddle) {
  HeapRunOptions options;
  options.meddle = std::move(meddle);
  return options;
}

// Some live block; null where there is none.
Block* any_live(Heap& heap) {
  for (const auto& [address, segment] : heap.segments()) {
    for (Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->allocated) return block;
    }
  }
  return nullptr;
}

// A finding at the last operation, for the sake of its Program.
HeapRunOptions blaming(std::uint64_t last) {
  return with([last](Heap& heap, std::uint64_t operation) {
    if (operation == last) heap.ledger().driver_freed();
  });
}

TEST(HeapRun, HoldsForManySeeds) {
  Histogram histogram;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const HeapRun run = run_heap(draw_tape(seed, 400));
    ASSERT_TRUE(run.holds()) << "seed " << seed << "\n" << in_words(run);
    ASSERT_EQ(run.operations, 400u);
    histogram += run.histogram;
  }
  std::printf("%s", in_words(histogram).c_str());
  for (std::size_t kind = 0; kind < op_kind_count; ++kind)
    EXPECT_GE(histogram.executed[kind] * 100, histogram.total()) << to_string(OpKind(kind));
  EXPECT_LE(histogram.total_without_effect() * 10, histogram.total());
}

TEST(HeapRun, HoldsWithoutChecksAfterEachOperation) {
  HeapRunOptions options;
  options.checkers = false;
  for (std::uint64_t seed = 0; seed < 2; ++seed)
    EXPECT_TRUE(run_heap(draw_tape(seed, 5000), options).holds()) << "seed " << seed;
}

TEST(HeapRun, HoldsForNoBytesAndForAllBitsSet) {
  EXPECT_TRUE(run_heap({}).holds());
  const std::vector<std::uint8_t> bytes(setup_bytes + 50 * op_bytes, 0xff);
  EXPECT_TRUE(run_heap(tape_of(bytes)).holds());
}

TEST(HeapRun, IsTheSameForTheSameTape) {
  const HeapRunOptions options = blaming(300);
  const HeapRun first = run_heap(draw_tape(7, 300), options);
  const HeapRun second = run_heap(draw_tape(7, 300), options);
  ASSERT_FALSE(first.holds());
  EXPECT_EQ(first.program, second.program);
  EXPECT_EQ(first.finding->found, second.finding->found);
}

// ---- planted faults: each is found at the operation where it shows ----

TEST(HeapRun, FindsAStatisticThatIsWrong) {
  const HeapRun run = run_heap(draw_tape(1, 300), blaming(123));
  ASSERT_FALSE(run.holds());
  EXPECT_EQ(run.operations, 123u);
  EXPECT_NE(run.finding->found.find("num_device_free"), std::string::npos) << in_words(run);
}

TEST(HeapRun, FindsABlockThatWasFreedBehindItsBack) {
  const HeapRun run = run_heap(draw_tape(2, 300), with([](Heap& heap, std::uint64_t operation) {
                                 if (operation < 100) return;
                                 Block* block = any_live(heap);
                                 if (block != nullptr) heap.free(*block);
                               }));
  EXPECT_FALSE(run.holds());
  EXPECT_LT(run.operations, 110u);
}

TEST(HeapRun, FindsAStreamThatChangedItsName) {
  bool is_renamed = false;
  const HeapRun run = run_heap(draw_tape(3, 300), with([&](Heap& heap, std::uint64_t) {
                                 if (is_renamed || !heap.knows({0, default_stream})) return;
                                 heap.retire_stream({0, default_stream}, retired_stream(99));
                                 is_renamed = true;
                               }));
  EXPECT_TRUE(is_renamed);
  EXPECT_FALSE(run.holds());
}

TEST(HeapRun, FindsAnInvariantThatDoesNotHold) {
  const HeapRun run = run_heap(draw_tape(4, 300), with([](Heap& heap, std::uint64_t operation) {
                                 Block* block = operation == 50 ? any_live(heap) : nullptr;
                                 if (block != nullptr) block->event_count = -1;
                               }));
  ASSERT_FALSE(run.holds());
  EXPECT_LE(run.operations, 51u);
  EXPECT_EQ(run.finding->expected, "all invariants");
}

// What only the map shows is found at the next comparison of maps, or at the end.
TEST(HeapRun, FindsInTheEndWhatOnlyTheMapShows) {
  HeapRunOptions options = with([](Heap& heap, std::uint64_t operation) {
    if (operation != 300) return;
    const auto& segments = heap.segments();
    if (!segments.empty())
      heap.retire_stream({0, segments.begin()->second.stream}, retired_stream(99));
  });
  options.checkers = false;
  EXPECT_FALSE(run_heap(draw_tape(5, 300), options).holds());
}

// ---- the Program ----

TEST(HeapRun, GivesAProgramThatDoesTheSameInAWorld) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    DeviceStats stats;
    const HeapRun heap_run =
        run_heap(draw_tape(seed, 200), with([&](Heap& heap, std::uint64_t operation) {
                   if (operation != 200) return;
                   stats = heap.ledger().read();
                   heap.ledger().driver_freed();
                 }));
    ASSERT_FALSE(heap_run.holds());
    const std::string text = print_program(heap_run.program);
    const auto program = parse_program(text);
    ASSERT_TRUE(program) << text;
    const RunReport report = run(*program);
    ASSERT_EQ(report.verdict, Verdict::holds)
        << "seed " << seed << "\n"
        << text << report.statement << report.expected << report.found << report.why;
    EXPECT_TRUE(report.stats.at(0) == stats) << "seed " << seed;
  }
}

}  // namespace
}  // namespace cairn::testing
