// Whatever an application does, the allocator does what the reference model foretells, and every
// invariant holds after each step.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
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

// Carries out one random statement, and writes it into the program as it went. False where the run
// cannot go on.
bool step(World& world, RandomOperations& operations, Program& program) {
  Statement statement = operations.next();
  const StepResult result = world.step(statement);
  if (result.kind == StepResult::Kind::mistake) return true;  // Makes no sense here: left out.
  if (result.kind == StepResult::Kind::failed) statement.expected = result.error;
  program.statements.push_back(statement);
  operations.done(statement, result.kind == StepResult::Kind::ok);
  if (result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed) return true;
  ADD_FAILURE() << in_words(result, program);
  return false;
}

void run(std::uint64_t seed, int steps) {
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
    if (!step(world, operations, program)) return;
  }
  const StepResult result = world.finish();
  EXPECT_EQ(result.kind, StepResult::Kind::ok) << in_words(result, program);
}

RC_GTEST_PROP(Lockstep, TheModelForetellsEveryOperation, ()) {
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  run(seed, 300);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
