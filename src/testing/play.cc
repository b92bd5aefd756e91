#include "testing/play.h"

#include <utility>

namespace cairn::testing {
namespace {

bool is_finding(const StepResult& result) { return result.kind == StepResult::Kind::finding; }

WorldOptions playing(WorldOptions options) {
  options.plays_bodies = true;
  return options;
}

}  // namespace

Play::Play(const Program& declarations, const WorldOptions& options)
    : world_(declarations, playing(options)) {}

bool Play::step(Statement statement) {
  statement.expected = ErrorCode::none;
  result_ = world_.step(statement);
  bodies_ = world_.take_bodies();
  if (is_mistaken()) return true;
  if (result_.kind == StepResult::Kind::failed) statement.expected = result_.error;
  if (std::holds_alternative<During>(statement.operation))
    durings_.push_back(as_it_went_.statements.size());
  as_it_went_.statements.push_back(std::move(statement));
  write_bodies();
  return !is_finding(result_);
}

void Play::write_bodies() {
  auto& statements = as_it_went_.statements;
  for (const RanBody& ran : bodies_) {
    if (ran.is_parallel) {
      std::get<Parallel>(statements.back().operation).body = ran.body;
      if (statements.size() > 1 && std::holds_alternative<Schedule>(statements.end()[-2].operation))
        statements.erase(statements.end() - 2);
      if (ran.schedule.empty()) continue;
      Statement schedule;
      schedule.operation = Schedule{ran.schedule};
      statements.insert(statements.end() - 1, std::move(schedule));
    } else {
      During& during = std::get<During>(statements[durings_[ran.which]].operation);
      during.body = ran.body;
      if (!ran.made_no_sense) came_.insert(ran.which);
    }
  }
}

// Without those `during` that made no sense, or whose call never came.
void Play::take_out_unmade() {
  for (std::size_t which = durings_.size(); which-- > 0;) {
    if (came_.contains(which)) continue;
    as_it_went_.statements.erase(as_it_went_.statements.begin() +
                                 static_cast<std::ptrdiff_t>(durings_[which]));
  }
  durings_.clear();
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
    if (!played.step(statement)) return {played.result(), played.as_it_went()};
  }
  played.finish();
  return {played.result(), played.as_it_went()};
}

}  // namespace cairn::testing
