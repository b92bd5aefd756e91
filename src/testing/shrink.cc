#include "testing/shrink.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "testing/play.h"
#include "testing/printer.h"
#include "testing/shrink_moves.h"

namespace cairn::testing {
namespace {

// Of longer Programs not every pair is tried.
constexpr std::size_t most_units_for_pairs = 40;

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

// The units but those from `first` on, so many, and another one.
Program without(const std::vector<Unit>& units, std::size_t first, std::size_t count,
                std::optional<std::size_t> other = {}) {
  Program program;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if ((first <= i && i - first < count) || other == i) continue;
    program.statements.insert(program.statements.end(), units[i].begin(), units[i].end());
  }
  return program;
}

class Shrinker {
 public:
  Shrinker(const Program& program, const StillFails& still_fails, int most_plays)
      : still_fails_(still_fails), plays_left_(most_plays), shortest_(program) {}

  Program shrink() {
    take_out_chunks();
    while (take_out_one() || take_out_what_is_named() || make_statements_plainer() ||
           take_out_two()) {
    }
    make_move(use_plain_names);
    return std::move(shortest_);
  }

 private:
  using Move = bool (*)(const Program& program, const Try& attempt);

  // No Program is played twice. What went differently from what was asked must fail by itself too.
  bool attempt(const Program& candidate) {
    if (candidate == shortest_) return false;
    auto found = failure_of(candidate);
    if (found && *found != candidate) found = failure_of(*found);
    if (!found) return false;
    shortest_ = *std::move(found);
    return true;
  }

  std::optional<Program> failure_of(const Program& candidate) {
    const std::size_t text = std::hash<std::string>{}(print_program(candidate));
    if (plays_left_ == 0 || !played_.insert(text).second) return std::nullopt;
    --plays_left_;
    return still_fails_(candidate);
  }

  bool make_move(Move move) {
    const Program before = shortest_;
    return move(before, [this](const Program& candidate) { return attempt(candidate); });
  }

  // Half of the Program at a time, then a quarter, and so on.
  void take_out_chunks() {
    for (std::size_t count = units_of(shortest_).size() / 2; count > 1;)
      if (!take_out(count)) count /= 2;
  }

  bool take_out_one() {
    bool went = false;
    while (take_out(1)) went = true;
    return went;
  }

  // Once over the Program from its end, so many units at a time. False where all are needed.
  bool take_out(std::size_t count) {
    bool went = false;
    std::vector<Unit> units = units_of(shortest_);
    for (std::size_t end = units.size(); end > 0; end = std::min(end, units.size())) {
      const std::size_t first = end - std::min(count, end);
      if (attempt(without(units, first, end - first))) {
        went = true;
        units = units_of(shortest_);
      }
      end = first;
    }
    return went;
  }

  // What is needed only for one another, such as a block and its end.
  bool take_out_two() {
    const std::vector<Unit> units = units_of(shortest_);
    if (units.size() > most_units_for_pairs) return false;
    for (std::size_t i = 0; i < units.size(); ++i)
      for (std::size_t j = i + 1; j < units.size(); ++j)
        if (attempt(without(units, i, 1, j))) return true;
    return false;
  }

  bool take_out_what_is_named() {
    constexpr std::array<Move, 6> moves{use_fewer_threads,         use_fewer_devices,
                                        use_fewer_streams,         use_fewer_blocks,
                                        use_fewer_declared_blocks, use_plainer_sizes};
    return std::ranges::any_of(moves, [this](Move move) { return make_move(move); });
  }

  bool make_statements_plainer() {
    bool went = false;
    for (std::size_t i = 0; i < shortest_.statements.size();) {
      if (make_plainer(i)) {
        went = true;
      } else {
        ++i;
      }
    }
    return went;
  }

  bool make_plainer(std::size_t i) {
    return std::ranges::any_of(plainer(shortest_.statements[i].operation), [&](Operation& form) {
      Program candidate = shortest_;
      candidate.statements[i].operation = std::move(form);
      return attempt(candidate);
    });
  }

  const StillFails& still_fails_;
  int plays_left_;
  Program shortest_;
  std::unordered_set<std::size_t> played_;  // Hashes of their texts.
};

// The words without digits and quotes, up to the first that ends in a colon; of these so many.
std::string plain_words(const std::string& text, std::size_t most) {
  std::string words;
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < text.size() && count < most;) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    const bool is_last = word.ends_with(':');
    if (is_last) word.pop_back();
    const bool is_first_of_its_line = is_last && count == 0;
    const bool is_plain = std::ranges::none_of(
        word, [](unsigned char c) { return std::isdigit(c) != 0 || c == '\''; });
    if (is_plain || is_first_of_its_line) {
      words += (words.empty() ? "" : " ") + word;
      ++count;
    }
    if (is_last) break;
  }
  return words;
}

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

std::string bucket_of(const StepResult& result) {
  if (result.kind != StepResult::Kind::finding) return {};
  if (result.expected == "violations == 0") return "violation: " + plain_words(result.found, 2);
  const std::string words = plain_words(result.expected, 8);
  return words.empty() ? "finding" : words;
}

}  // namespace cairn::testing
