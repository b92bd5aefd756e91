#include "testing/shrink.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/play.h"

namespace cairn::testing {
namespace {

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

Program program_of(const std::vector<Unit>& units) {
  Program program;
  for (const Unit& unit : units)
    program.statements.insert(program.statements.end(), unit.begin(), unit.end());
  return program;
}

std::vector<Unit> without(const std::vector<Unit>& units, std::size_t first, std::size_t count) {
  std::vector<Unit> left(units.begin(), units.begin() + static_cast<std::ptrdiff_t>(first));
  const std::size_t next = std::min(first + count, units.size());
  left.insert(left.end(), units.begin() + static_cast<std::ptrdiff_t>(next), units.end());
  return left;
}

class Shrinker {
 public:
  Shrinker(const Program& program, const StillFails& still_fails, int most_plays)
      : still_fails_(still_fails),
        most_plays_(most_plays),
        shortest_(program),
        units_(units_of(program)) {}

  Program shrink() {
    for (std::size_t count = units_.size() / 2; count > 0 && plays_ < most_plays_;)
      if (!take_out(count)) count /= 2;
    return shortest_;
  }

 private:
  // Once over the program, so many at a time. False where all of them are needed.
  bool take_out(std::size_t count) {
    bool went = false;
    for (std::size_t first = 0; first < units_.size() && plays_ < most_plays_; ++plays_) {
      auto found = still_fails_(program_of(without(units_, first, count)));
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

  const StillFails& still_fails_;
  int most_plays_;
  Program shortest_;
  std::vector<Unit> units_;
  int plays_ = 0;
};

}  // namespace

Program shrink(const Program& program, const StillFails& still_fails, int most_plays) {
  return Shrinker(program, still_fails, most_plays).shrink();
}

Program shrink(const Program& program, const WorldOptions& options) {
  const std::string bucket = bucket_of(play(program, options).result);
  return shrink(program, [&](const Program& candidate) -> std::optional<Program> {
    Played played = play(candidate, options);
    if (bucket_of(played.result) != bucket) return std::nullopt;
    return std::move(played.as_it_went);
  });
}

// The words before a colon say which check it was; without addresses and numbers.
std::string bucket_of(const StepResult& result) {
  if (result.kind != StepResult::Kind::finding) return {};
  return result.expected.substr(0, result.expected.find(':'));
}

}  // namespace cairn::testing
