#include "testing/op_draws.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "testing/op_run.h"

namespace cairn::testing {
namespace {

std::set<OpKind> kinds_of(const Tape& tape) {
  std::set<OpKind> kinds;
  for (const Op& op : tape.ops) kinds.insert(op.kind);
  return kinds;
}

TEST(OpDraws, are_the_same_for_the_same_seed) {
  EXPECT_EQ(draw_tape(7, 500), draw_tape(7, 500));
  EXPECT_NE(draw_tape(7, 500), draw_tape(8, 500));
  EXPECT_NE(draw_tape(7, 0).setup, draw_tape(8, 0).setup);
}

TEST(OpDraws, begin_a_longer_tape_as_a_shorter) {
  const Tape shorter = draw_tape(3, 100);
  Tape longer = draw_tape(3, 1000);
  longer.ops.resize(100);
  EXPECT_EQ(shorter, longer);
}

// Swarm testing: what a seed lacks leaves room for long runs of the rest.
TEST(OpDraws, lack_some_kinds_by_seed) {
  std::set<OpKind> ever;
  std::set<OpKind> lacking;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const auto kinds = kinds_of(draw_tape(seed, 2000));
    for (std::size_t i = 0; i < op_kind_count; ++i) {
      const auto kind = static_cast<OpKind>(i);
      (kinds.contains(kind) ? ever : lacking).insert(kind);
    }
    EXPECT_TRUE(kinds.contains(OpKind::alloc) && kinds.contains(OpKind::free)) << seed;
  }
  EXPECT_EQ(ever.size(), op_kind_count);
  EXPECT_GE(lacking.size(), op_kind_count / 2);
}

// Sizes crowd around the borders of the size policy, and some are impossible.
TEST(OpDraws, draw_sizes_of_all_classes) {
  std::array<int, 5> classes{};  // Small, large, oversize, beyond any memory; exactly at a border.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    for (const Op& op : draw_tape(seed, 200).ops) {
      if (op.kind != OpKind::alloc) continue;
      const std::uint64_t size = size_of(op.amount).count;
      constexpr std::uint64_t mib = std::uint64_t{1} << 20;
      ++classes.at(size <= mib ? 0 : size < 10 * mib ? 1 : size < 2048 * mib ? 2 : 3);
      if (size == mib || size == 10 * mib) ++classes[4];
    }
  }
  EXPECT_GT(*std::ranges::min_element(classes), 3);
}

// So a run is not mostly of one kind, nor of operations that say nothing.
TEST(OpDraws, execute_each_kind_and_to_an_effect) {
  Histogram all;
  WorldOptions bare;  // What is counted here depends on none of its checks.
  bare.lockstep = false;
  bare.checkers = false;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    const OpRun run = run_seed(seed, 200, bare);
    ASSERT_TRUE(run.holds()) << in_words(run);
    all += run.histogram;
  }
  for (std::size_t kind = 0; kind < op_kind_count; ++kind) {
    EXPECT_GE(100 * all.executed[kind], all.total()) << to_string(static_cast<OpKind>(kind)) << "\n"
                                                     << in_words(all);
  }
  EXPECT_LE(10 * all.total_without_effect(), all.total()) << in_words(all);
}

}  // namespace
}  // namespace cairn::testing
