#include "replay.h"

#include <stdexcept>
#include <utility>

#include "canonical.h"
#include "testing/parser.h"
#include "testing/printer.h"

namespace cairn::exhaust {
namespace {

using testing::Statement;
using testing::StepResult;
using testing::World;

// Steps on, and writes down how it went.
class Writer {
 public:
  Writer(World& world, Replay& replay) : world_(world), replay_(replay) {}

  // False where it found something.
  bool step(Statement statement, Book& book) {
    replay_.result = world_.step(statement);
    if (replay_.result.kind == StepResult::Kind::mistake ||
        replay_.result.kind == StepResult::Kind::unsupported)
      throw std::runtime_error("the scope says what makes no sense: " + print_statement(statement) +
                               ": " + replay_.result.why);
    if (replay_.result.kind == StepResult::Kind::failed) statement.expected = replay_.result.error;
    if (replay_.result.kind == StepResult::Kind::ok) note(statement, world_, book);
    replay_.program.statements.push_back(std::move(statement));
    return !replay_.is_finding();
  }

 private:
  World& world_;
  Replay& replay_;
};

}  // namespace

testing::Program world_of(const Scope& scope) {
  auto program = testing::parse_program(std::string(scope.world));
  if (program.failed())
    throw std::runtime_error("the world of scope " + std::string(scope.name) +
                             " cannot be read: " + program.error().message);
  return *std::move(program);
}

std::vector<StreamId> streams_of(const Scope& scope, const World& world) {
  std::vector<StreamId> streams;
  for (int i = 1; i <= scope.streams; ++i)
    streams.push_back(world.stream("s" + std::to_string(i)).value());
  return streams;
}

Replay replay(const Scope& scope, const std::vector<Choice>& way,
              const testing::WorldOptions& options, End end) {
  const testing::Program first = world_of(scope);
  World world(first, options);
  Replay replay;
  Writer writer(world, replay);
  Book book;
  for (const Statement& statement : first.statements)
    if (!writer.step(statement, book)) return replay;
  const std::vector<StreamId> streams = streams_of(scope, world);
  const Situation now{scope, world, streams};
  for (const Choice& choice : way) {
    for (Statement& statement : statements_of(choice, now, book))
      if (!writer.step(std::move(statement), book)) return replay;
  }
  replay.number = canonical(now);
  if (end == End::left_out) return replay;
  replay.result = world.finish();
  if (!replay.is_finding()) replay.result = world.wind_down();
  if (!replay.is_finding()) replay.result = world.end();
  return replay;
}

}  // namespace cairn::exhaust
