#include "testing/play.h"

#include <utility>

namespace cairn::testing {
namespace {

bool is_finding(const StepResult& result) { return result.kind == StepResult::Kind::finding; }

}  // namespace

Play::Play(const Program& declarations, const WorldOptions& options)
    : world_(declarations, options) {}

bool Play::step(Statement statement) {
  statement.expected = ErrorCode::none;
  result_ = world_.step(statement);
  if (is_mistaken()) return true;
  if (result_.kind == StepResult::Kind::failed) statement.expected = result_.error;
  as_it_went_.statements.push_back(std::move(statement));
  return !is_finding(result_);
}

bool Play::is_mistaken() const {
  using Kind = StepResult::Kind;
  return result_.kind == Kind::mistake || result_.kind == Kind::unsupported;
}

bool Play::finish() {
  result_ = world_.finish();
  if (!is_finding(result_)) result_ = world_.wind_down();
  if (!is_finding(result_)) result_ = world_.end();
  return !is_finding(result_);
}

Played play(const Program& program, const WorldOptions& options) {
  Play played(program, options);
  for (const Statement& statement : program.statements) {
    if (!played.step(statement)) return {played.result(), std::move(played).as_it_went()};
  }
  played.finish();
  return {played.result(), std::move(played).as_it_went()};
}

}  // namespace cairn::testing
