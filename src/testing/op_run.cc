#include "testing/op_run.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "testing/op_decoder.h"
#include "testing/op_draws.h"
#include "testing/play.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

template <class Counts>
std::uint64_t sum(const Counts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

void count(const Statement& statement, const StepResult& result, OpRun& run) {
  ++run.statements;
  if (result.kind == StepResult::Kind::ok) ++run.succeeded[statement.operation.index()];
  if (result.kind == StepResult::Kind::failed) ++run.failed;
}

class Runner {
 public:
  Runner(const Tape& tape, const WorldOptions& options)
      : tape_(tape),
        decoder_(tape.setup, options.lets_others_in),
        declarations_{decoder_.declarations()},
        play_(declarations_, options) {}

  OpRun run() {
    bool goes_on = declare();
    for (auto op = tape_.ops.begin(); goes_on && op != tape_.ops.end(); ++op)
      goes_on = execute(*op);
    if (!run_.mistake && play_.result().kind != StepResult::Kind::finding) play_.finish();
    run_.result = play_.result();
    run_.program = play_.as_it_went();
    return std::move(run_);
  }

 private:
  // False where a declaration is to blame.
  bool declare() {
    for (const Statement& declaration : declarations_.statements) {
      if (!play_.step(declaration)) return false;
      if (!play_.is_mistaken()) continue;
      run_.mistake = declaration;
      return false;
    }
    return true;
  }

  // False where the run ends.
  bool execute(const Op& op) {
    decoder_.begin(op);
    bool has_effect = false;
    bool goes_on = true;
    for (auto statement = decoder_.next(); goes_on && statement; statement = decoder_.next()) {
      goes_on = step(*statement);
      has_effect = has_effect || !play_.is_mistaken();
    }
    const auto kind = static_cast<std::size_t>(op.kind);
    ++run_.histogram.executed[kind];
    if (!has_effect) ++run_.histogram.without_effect[kind];
    return goes_on && !decoder_.is_stuck();
  }

  bool step(const Statement& statement) {
    const bool may_be_mistaken = decoder_.may_be_mistaken(statement);
    const bool goes_on = play_.step(statement);
    if (play_.is_mistaken()) {
      if (!may_be_mistaken) run_.mistake = statement;
    } else {
      count(statement, play_.result(), run_);
    }
    for (const RanBody& ran : play_.bodies()) decoder_.done_within(ran.body);
    decoder_.done(statement, play_.result().kind == StepResult::Kind::ok);
    return goes_on && !run_.mistake;
  }

  const Tape& tape_;
  OpDecoder decoder_;
  Program declarations_;
  Play play_;
  OpRun run_;
};

}  // namespace

Histogram& Histogram::operator+=(const Histogram& other) {
  for (std::size_t kind = 0; kind < op_kind_count; ++kind) {
    executed[kind] += other.executed[kind];
    without_effect[kind] += other.without_effect[kind];
  }
  return *this;
}

std::uint64_t Histogram::total() const { return sum(executed); }
std::uint64_t Histogram::total_without_effect() const { return sum(without_effect); }

std::string in_words(const Histogram& histogram) {
  std::array<std::size_t, op_kind_count> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {},
                    [&](std::size_t kind) { return std::pair(~histogram.executed[kind], kind); });
  std::string text = "operation            executed        %  without effect\n";
  const double all = static_cast<double>(std::max<std::uint64_t>(1, histogram.total()));
  for (const std::size_t kind : order) {
    std::array<char, 100> line{};
    std::snprintf(line.data(), line.size(), "%-16s %12llu %8.2f %15llu\n",
                  std::string(to_string(static_cast<OpKind>(kind))).c_str(),
                  static_cast<unsigned long long>(histogram.executed[kind]),
                  100 * static_cast<double>(histogram.executed[kind]) / all,
                  static_cast<unsigned long long>(histogram.without_effect[kind]));
    text += line.data();
  }
  return text;
}

OpRun run_tape(const Tape& tape, const WorldOptions& options) {
  return Runner(tape, options).run();
}

OpRun run_seed(std::uint64_t seed, std::size_t operations, const WorldOptions& options) {
  return run_tape(draw_tape(seed, operations), options);
}

std::string in_words(const OpRun& run) {
  std::string text;
  if (run.mistake) text += "a mistake: " + print_statement(*run.mistake) + "\n";
  return text + run.result.why + "\nexpected: " + run.result.expected +
         "\nfound: " + run.result.found + "\nprogram:\n" + print_program(run.program);
}

}  // namespace cairn::testing
