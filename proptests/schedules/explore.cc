#include "explore.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "choices.h"
#include "testing/shorten.h"
#include "testing/shrink.h"

namespace cairn::testing {
namespace {

constexpr int most_shortenings = 120;
constexpr std::uint64_t most_of_shortening = 3000;

Played play_noted(const Program& program, const WorldOptions& options, Trail* trail) {
  if (trail == nullptr) return play(program, options);
  WorldOptions noted = options;
  trail->length = 0;
  noted.choose = [&options, trail](const Scheduler::Point& point) {
    const int next = options.choose(point);
    if (trail->length < Trail::most) trail->threads[trail->length++] = next;
    return next;
  };
  return play(program, noted);
}

bool is_finding(const Played& played) { return played.result.kind == StepResult::Kind::finding; }

// A line of a Program, or of its `parallel`.
struct Line {
  Statement statement;
  bool is_in_parallel = false;
};

std::vector<Line> lines_of(const Program& program) {
  std::vector<Line> lines;
  for (const Statement& statement : program.statements) {
    const auto* parallel = std::get_if<Parallel>(&statement.operation);
    if (std::holds_alternative<Schedule>(statement.operation)) continue;
    if (parallel == nullptr) {
      lines.push_back({statement});
      continue;
    }
    for (const Statement& each : parallel->body) lines.push_back({each, true});
  }
  return lines;
}

Program program_of(const std::vector<Line>& lines) {
  Program program;
  Parallel parallel;
  for (const Line& line : lines) {
    if (line.is_in_parallel) {
      parallel.body.push_back(line.statement);
    } else {
      program.statements.push_back(line.statement);
    }
  }
  Statement statement;
  statement.operation = std::move(parallel);
  program.statements.push_back(std::move(statement));
  return program;
}

// The threads of its `parallel` with the numbers of one another.
Program with_threads_reversed(Program program) {
  int highest = 0;
  for (Statement& statement : program.statements)
    if (auto* parallel = std::get_if<Parallel>(&statement.operation))
      for (const Statement& each : parallel->body)
        highest = std::max(highest, each.thread.value_or(0));
  for (Statement& statement : program.statements)
    if (auto* parallel = std::get_if<Parallel>(&statement.operation))
      for (Statement& each : parallel->body) each.thread = highest + 1 - each.thread.value_or(1);
  return program;
}

// All findings of that kind, of as few preemptions as possible: the one of the fewest steps.
void improve(const Program& program, const WorldOptions& options, Found& best) {
  const std::string bucket = bucket_of(best.result);
  Odometer odometer(best.preemptions);
  WorldOptions chosen = options;
  chosen.choose = [&](const Scheduler::Point& point) { return odometer.choose(point); };
  std::uint64_t schedules = 0;
  do {
    Played played = play(program, chosen);
    if (bucket_of(played.result) != bucket) continue;
    const int preemptions = odometer.preemptions();
    const bool is_better = std::pair(preemptions, steps_of_schedule(played.as_it_went)) <
                           std::pair(best.preemptions, steps_of_schedule(best.program));
    if (is_better) best = {std::move(played.result), std::move(played.as_it_went), preemptions};
  } while (odometer.next() && ++schedules < most_of_shortening);
}

}  // namespace

std::size_t steps_of_schedule(const Program& program) {
  for (const Statement& statement : program.statements)
    if (const auto* schedule = std::get_if<Schedule>(&statement.operation))
      return schedule->threads.size();
  return 0;
}

Explored explore(const Program& program, const WorldOptions& options, const Bounds& bounds) {
  Explored explored;
  Odometer odometer(bounds.preemptions);
  WorldOptions chosen = options;
  chosen.choose = [&](const Scheduler::Point& point) { return odometer.choose(point); };
  do {
    Played played = play_noted(program, chosen, bounds.trail);
    ++explored.schedules;
    explored.most_points = std::max<std::uint64_t>(explored.most_points, odometer.points());
    if (!is_finding(played)) continue;
    explored.found =
        Found{std::move(played.result), std::move(played.as_it_went), odometer.preemptions()};
    break;
  } while (odometer.next() && explored.schedules < bounds.schedules);
  return explored;
}

Explored explore_at_random(const Program& program, const WorldOptions& options,
                           std::uint64_t schedules, std::uint64_t seed, Trail* trail) {
  constexpr int depth = 3;
  Explored explored = explore(program, options, {0, 1, trail});
  while (!explored.found && explored.schedules < schedules) {
    Pct pct(seed + explored.schedules, depth, explored.most_points);
    WorldOptions chosen = options;
    std::uint64_t points = 0;
    chosen.choose = [&](const Scheduler::Point& point) {
      ++points;
      return pct.choose(point);
    };
    Played played = play_noted(program, chosen, trail);
    ++explored.schedules;
    explored.most_points = std::max(explored.most_points, points);
    if (is_finding(played))
      explored.found = Found{std::move(played.result), std::move(played.as_it_went), depth};
  }
  return explored;
}

Found shorten(const Found& found, const WorldOptions& options) {
  const std::string bucket = bucket_of(found.result);
  Found best = found;
  const Program whole = program_of(lines_of(found.program));
  int preemptions = 0;  // As few as will do.
  while (preemptions < 2 && !explore(whole, options, {preemptions, most_of_shortening}).found)
    ++preemptions;
  const auto finds = [&](const std::vector<Line>& lines) {
    Explored explored = explore(program_of(lines), options, {preemptions, most_of_shortening});
    if (!explored.found || bucket_of(explored.found->result) != bucket) return false;
    best = *std::move(explored.found);
    return true;
  };
  static_cast<void>(shorten<Line>(lines_of(whole), finds, most_shortenings));
  const Program plain = program_of(lines_of(best.program));
  improve(plain, options, best);
  improve(with_threads_reversed(plain), options, best);
  return best;
}

}  // namespace cairn::testing
