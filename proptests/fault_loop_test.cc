// A failure of the driver at any call leaves the allocator as promised, and nothing behind at the
// end. Here a part of it; all of it by build/*/bin/fault_loop.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "testing/documented_errors.h"
#include "testing/fault_loop.h"
#include "testing/op_run.h"
#include "testing/printer.h"

namespace {

using cairn::testing::Alloc;
using cairn::testing::count_calls;
using cairn::testing::documented_errors;
using cairn::testing::Fault;
using cairn::testing::faults_of;
using cairn::testing::in_words;
using cairn::testing::OpRun;
using cairn::testing::play;
using cairn::testing::Played;
using cairn::testing::print_program;
using cairn::testing::Program;
using cairn::testing::run_seed;
using cairn::testing::StepResult;
using cairn::testing::with_fault;

class FaultLoopOver : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FaultLoopOver, AnInjectedFailureKeepsThePromisedState) {
  const OpRun run = run_seed(GetParam(), 150);
  ASSERT_TRUE(run.holds()) << in_words(run);
  const auto faults = faults_of(count_calls(run.program), {15, 60});
  EXPECT_GT(faults.size(), 5u);
  for (const Fault& fault : faults) {
    const Played played = play(with_fault(run.program, fault));
    ASSERT_NE(played.result.kind, StepResult::Kind::finding)
        << "expected: " << played.result.expected << "\nfound: " << played.result.found << "\n"
        << print_program(played.as_it_went);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, FaultLoopOver, testing::Range(std::uint64_t{1}, std::uint64_t{9}));

// Each call of a kind has its turn, and each error of that kind too.
TEST(FaultLoop, GoesOverAllCallsAndErrors) {
  const auto faults = faults_of({{cairn::DriverCall::malloc, 60}}, {1, 0});
  ASSERT_EQ(faults.size(), 60u);
  EXPECT_EQ(faults.front().at, 1u);
  EXPECT_EQ(faults.back().at, 60u);
  for (const auto& error : documented_errors(cairn::DriverCall::malloc)) {
    EXPECT_TRUE(
        std::ranges::any_of(faults, [&](const Fault& f) { return f.error == error.status; }));
  }
}

TEST(FaultLoop, CountsTheCallsOfAProgram) {
  Program program;
  program.statements.resize(2);
  program.statements[0].operation = Alloc{"a", cairn::Bytes{512}, "s0", {}, {}};
  program.statements[1].operation = Alloc{"b", cairn::Bytes{2 << 20}, "s0", {}, {}};
  const auto counts = count_calls(program);
  EXPECT_EQ(counts.at(cairn::DriverCall::malloc), 2u);
  EXPECT_FALSE(counts.contains(cairn::DriverCall::free));
}

}  // namespace
