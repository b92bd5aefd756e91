#include "testing/shrink.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "testing/play.h"

namespace cairn::testing {
namespace {

constexpr int most_plays = 5000;

// What is taken out together: a statement, or a declared segment with its blocks.
using Unit = std::vector<Statement>;

std::vector<Unit> units_of(const Program& program) {
  std::vector<Unit> units;
  for (const Statement& statement : program.statements) {
    if (!std::holds_alternative<BlockDecl>(statement.operation) || units.empty())
      units.emplace_back();
    units.back().push_back(statement);
  }
  return units;
}

std::optional<Program> what_finds(const std::vector<Unit>& units, const WorldOptions& options) {
  Program program;
  for (const Unit& unit : units)
    program.statements.insert(program.statements.end(), unit.begin(), unit.end());
  Played played = play(program, options);
  if (played.result.kind != StepResult::Kind::finding) return std::nullopt;
  return std::move(played.as_it_went);
}

std::vector<Unit> without(const std::vector<Unit>& units, std::size_t first, std::size_t count) {
  std::vector<Unit> left(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(first));
  const std::size_t next = std::min(first + count, units.size());
  left.insert(left.end(), units.begin() + static_cast<std::ptrdiff_t>(next), units.end());
  return left;
}

}  // namespace

Program shrink(const Program& program, const WorldOptions& options) {
  Program shortest = program;
  std::vector<Unit> units = units_of(program);
  int plays = 0;
  for (std::size_t count = units.size() / 2; count > 0 && plays < most_plays;) {
    bool went = false;
    for (std::size_t first = 0; first < units.size() && plays < most_plays; ++plays) {
      auto found = what_finds(without(units, first, count), options);
      if (!found) {
        first += count;
        continue;
      }
      shortest = *std::move(found);
      units = units_of(shortest);
      went = true;
    }
    if (!went) count /= 2;
  }
  return shortest;
}

}  // namespace cairn::testing
