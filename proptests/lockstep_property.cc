// Whatever an application does, the allocator does what the reference model foretells, and every
// invariant holds after each step.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "testing/printer.h"
#include "testing/random_operations.h"
#include "testing/world.h"

namespace {

using cairn::ErrorCode;
using cairn::testing::Program;
using cairn::testing::RandomOperations;
using cairn::testing::Statement;
using cairn::testing::StepResult;
using cairn::testing::World;

std::string in_words(const StepResult& result, const Program& program) {
  return result.why + "expected: " + result.expected + "\nfound: " + result.found + "\nprogram:\n" +
         cairn::testing::print_program(program);
}

// How many statements of each kind did what they say, failed as foretold, or made no sense.
struct Histogram {
  std::map<std::size_t, int> succeeded;  // By the operation's place in the variant.
  int failed = 0;
  int mistaken = 0;
  int all = 0;
};

void count(const Statement& statement, const StepResult& result, Histogram& histogram) {
  ++histogram.all;
  if (result.kind == StepResult::Kind::mistake) ++histogram.mistaken;
  if (result.kind == StepResult::Kind::failed) ++histogram.failed;
  if (result.kind == StepResult::Kind::ok) ++histogram.succeeded[statement.operation.index()];
}

// Carries out one random statement, and writes it into the program as it went. False where the run
// cannot go on.
bool step(World& world, RandomOperations& operations, Program& program, Histogram& histogram) {
  Statement statement = operations.next();
  const StepResult result = world.step(statement);
  count(statement, result, histogram);
  if (result.kind == StepResult::Kind::mistake) return true;  // Makes no sense here: left out.
  if (result.kind == StepResult::Kind::failed) statement.expected = result.error;
  program.statements.push_back(statement);
  operations.done(statement, result.kind == StepResult::Kind::ok);
  if (result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed) return true;
  ADD_FAILURE() << in_words(result, program);
  return false;
}

void run(std::uint64_t seed, int steps, Histogram& histogram) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomOperations operations(seed);
  Program program;
  program.statements = operations.declarations();
  World world(program);
  for (const Statement& declaration : program.statements) {
    const StepResult result = world.step(declaration);
    ASSERT_EQ(result.kind, StepResult::Kind::ok) << in_words(result, program);
  }
  for (int i = 0; i < steps; ++i) {
    if (!step(world, operations, program, histogram)) return;
  }
  const StepResult result = world.finish();
  EXPECT_EQ(result.kind, StepResult::Kind::ok) << in_words(result, program);
}

RC_GTEST_PROP(Lockstep, TheModelForetellsEveryOperation, ()) {
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  Histogram histogram;
  run(seed, 300, histogram);
  RC_ASSERT(!::testing::Test::HasFailure());
}

// The property would say little if most of what it tries made no sense, or always failed.
TEST(Lockstep, RandomOperationsDoWhatTheySay) {
  Histogram histogram;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) run(seed, 300, histogram);
  EXPECT_LT(histogram.mistaken * 10, histogram.all);
  EXPECT_LT(histogram.failed * 3, histogram.all);
  EXPECT_GT(histogram.failed * 100, histogram.all);
  using Kinds = cairn::testing::Operation;
  for (const Kinds& kind : {Kinds(cairn::testing::Alloc{}), Kinds(cairn::testing::Free{}),
                            Kinds(cairn::testing::EmptyCache{}), Kinds(cairn::testing::Fault{}),
                            Kinds(cairn::testing::SetDevice{}), Kinds(cairn::testing::Reset{})}) {
    EXPECT_GT(histogram.succeeded[kind.index()] * 200, histogram.all) << kind.index();
  }
}

}  // namespace
