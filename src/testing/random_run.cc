#include "testing/random_run.h"

#include <utility>

#include "testing/play.h"
#include "testing/printer.h"
#include "testing/random_operations.h"

namespace cairn::testing {
namespace {

void count(const Statement& statement, const StepResult& result, RandomRun& run) {
  ++run.operations;
  if (result.kind == StepResult::Kind::ok) ++run.succeeded[statement.operation.index()];
  if (result.kind == StepResult::Kind::failed) ++run.failed;
}

// False where the run ends.
bool step(Play& play, RandomOperations& operations, RandomRun& run) {
  const Statement statement = operations.next();
  const bool may_be_mistaken = operations.may_be_mistaken(statement);
  const bool goes_on = play.step(statement);
  if (play.is_mistaken()) {
    if (!may_be_mistaken) run.mistake = statement;
    ++run.mistakes;
  } else {
    count(statement, play.result(), run);
  }
  operations.done(statement, play.result().kind == StepResult::Kind::ok);
  return goes_on && !run.mistake && !operations.is_stuck();
}

// False where a declaration is to blame.
bool declare(Play& play, const Program& declarations, RandomRun& run) {
  for (const Statement& declaration : declarations.statements) {
    if (!play.step(declaration)) return false;
    if (!play.is_mistaken()) continue;
    run.mistake = declaration;
    return false;
  }
  return true;
}

}  // namespace

RandomRun run_random(std::uint64_t seed, std::uint64_t operations, const WorldOptions& options) {
  RandomOperations source(seed);
  const Program declarations{source.declarations()};
  Play play(declarations, options);
  RandomRun run;
  bool goes_on = declare(play, declarations, run);
  while (goes_on && run.operations < operations) goes_on = step(play, source, run);
  if (!run.mistake && play.result().kind != StepResult::Kind::finding) play.finish();
  run.result = play.result();
  run.program = play.as_it_went();
  return run;
}

std::string in_words(const RandomRun& run) {
  std::string text;
  if (run.mistake) text += "a mistake: " + print_statement(*run.mistake) + "\n";
  return text + run.result.why + "\nexpected: " + run.result.expected +
         "\nfound: " + run.result.found + "\nprogram:\n" + print_program(run.program);
}

}  // namespace cairn::testing
