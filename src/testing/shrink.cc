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

class Shrinker {
 public:
  Shrinker(const Program& program, const WorldOptions& options)
      : options_(options), shortest_(program), units_(units_of(program)) {}

  Program shrink() {
    for (std::size_t count = units_.size() / 2; count > 0 && plays_ < most_plays;)
      if (!take_out(count)) count /= 2;
    return shortest_;
  }

 private:
  // Once over the program, so many at a time. False where all of them are needed.
  bool take_out(std::size_t count) {
    bool went = false;
    for (std::size_t first = 0; first < units_.size() && plays_ < most_plays; ++plays_) {
      auto found = what_finds(without(units_, first, count), options_);
      if (!found) {
        first += count;
        continue;
      }
      shortest_ = *std::move(found);
      units_ = units_of(shortest_);
      went = true;
    }
    return went;
  }

  const WorldOptions& options_;
  Program shortest_;
  std::vector<Unit> units_;
  int plays_ = 0;
};

}  // namespace

Program shrink(const Program& program, const WorldOptions& options) {
  return Shrinker(program, options).shrink();
}

}  // namespace cairn::testing
