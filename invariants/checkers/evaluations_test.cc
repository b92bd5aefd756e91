// How often each invariant was evaluated: that it is counted at all, and only where its premise
// held; and that one checker serves those who record and those who abort.
#include "invariants/catalogue/evaluations.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "heap/block.h"
#include "invariants/checkers/saboteur.h"
#include "testing/op_run.h"

namespace cairn::invariants {
namespace {

// A sound block that nobody has, of no segment.
Block free_block() {
  Block block;
  block.ptr = large_begin;
  block.size = 1_MiB;
  return block;
}

// How many times more than before.
class More {
 public:
  std::uint64_t of(const Invariant& invariant) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (std::string(all[i].id) == invariant.id) return all_evaluations()[i] - before_[i];
    }
    return 0;
  }

 private:
  Evaluations before_ = all_evaluations();
};

// ---- what is counted ----

TEST(Evaluations, ARandomRunEvaluatesEveryInvariant) {
  const More more;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const testing::OpRun run = testing::run_seed(seed, 300);
    ASSERT_TRUE(run.holds()) << in_words(run);
  }
  for (const Invariant& invariant : all) EXPECT_GT(more.of(invariant), 0u) << invariant.id;
}

TEST(Evaluations, ACheckThatHoldsAndOneThatDoesNotCountOnceEach) {
  const Recorder recorder;
  const More more;
  Block block = free_block();
  check_block(block);
  EXPECT_EQ(more.of(block_size_granular), 1u);
  block.size = 1_MiB + 1_B;
  check_block(block);
  EXPECT_EQ(more.of(block_size_granular), 2u);
  EXPECT_EQ(recorder.violations().size(), 1u);
}

TEST(Evaluations, WhatIsPromisedOfLiveBlocksIsNotCountedOfOthers) {
  const More more;
  Block block = free_block();
  check_block(block);
  EXPECT_EQ(more.of(block_serves_request), 0u);
  EXPECT_EQ(more.of(idle_without_uses), 0u);
  block.allocated = true;
  check_block(block);
  EXPECT_EQ(more.of(block_serves_request), 1u);
  EXPECT_EQ(more.of(idle_without_uses), 1u);
}

TEST(Evaluations, UsesAreCountedOfBlocksThatHaveSome) {
  const More more;
  SmallHeap small;
  check(small.heap, Cost::heap);
  EXPECT_EQ(more.of(uses_in_order), 0u);
  small.heap.add_use(small.a, {0, stream_1});
  const More after;
  check(small.heap, Cost::heap);
  EXPECT_EQ(after.of(uses_in_order), 1u);
}

TEST(Evaluations, NeighboursAreCountedInPairs) {
  const SmallHeap small;
  const More more;
  check(small.heap, Cost::heap);
  EXPECT_EQ(more.of(free_neighbours_merged), 4u);  // Three borders in `large`, one in `small`.
  EXPECT_EQ(more.of(segment_listed), 3u);
}

TEST(Evaluations, TheSegmentsAndTheMemoryOutAreAllLookedAt) {
  const SmallHeap small;
  const More more;
  check_segments_from_driver(small.heap,
                             {{large_begin, 20_MiB}, {small_begin, 2_MiB}, {spare_begin, 20_MiB}});
  EXPECT_EQ(more.of(segment_from_driver), 6u);
}

TEST(Evaluations, AHookCountsIfTheLevelWantsIt) {
  const More more;
  CAIRN_HOLDS(block_aligned, true);
  EXPECT_EQ(more.of(block_aligned), wanted(block_aligned.cost) ? 1u : 0u);
}

// ---- how it is told ----

TEST(Evaluations, ThoseOfAnotherProcessAreAdded) {
  const More more;
  Evaluations others{};
  others[0] = 5;
  add_evaluations(others);
  EXPECT_EQ(more.of(all[0]), 5u);
  EXPECT_EQ(evaluations(all[0]), all_evaluations()[0]);
}

TEST(Evaluations, TheTableNamesEachAndThoseNeverEvaluated) {
  count_evaluations(block_aligned, 1);
  const std::string table = evaluations_in_words();
  for (const Invariant& invariant : all)
    EXPECT_NE(table.find("\n" + std::string(invariant.id) + " "), std::string::npos);
  const std::string never = never_evaluated_in_words();
  EXPECT_TRUE(table.ends_with(never));
  EXPECT_EQ((never + " ").find(" B2"), std::string::npos);
  EXPECT_EQ(never == "invariants never evaluated: none\n", never_evaluated().empty());
}

using EvaluationsDeathTest = ::testing::Test;

TEST_F(EvaluationsDeathTest, AreToldAtExitToThoseWhoAsk) {
  const auto exit_asking = [] {
    setenv("CAIRN_COUNTS", "1", 1);
    count_evaluations(block_aligned, 1);
    print_evaluations_at_exit_if_wanted();
    std::exit(0);
  };
  EXPECT_EXIT(exit_asking(), ::testing::ExitedWithCode(0), "B2 +[1-9].*never evaluated:");
  const auto exit_quietly = [] {
    unsetenv("CAIRN_COUNTS");
    print_evaluations_at_exit_if_wanted();
    std::exit(0);
  };
  EXPECT_EXIT(exit_quietly(), ::testing::ExitedWithCode(0), "^$");
}

// ---- one checker, two reactions ----

TEST_F(EvaluationsDeathTest, WhatIsRecordedHereAbortsWhereNobodyRecords) {
  Block block = free_block();
  block.event_count = -1;
  EXPECT_EQ(broken_in(block), (Ids{"U1"}));
  EXPECT_DEATH(check_block(block), "cairn: invariant violated: U1 .*event_count is never negative");
}

}  // namespace
}  // namespace cairn::invariants
