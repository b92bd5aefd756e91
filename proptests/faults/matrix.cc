#include "matrix.h"

#include <cstddef>
#include <cstdio>
#include <utility>
#include <vector>

#include "plan.h"
#include "testing/fault_loop.h"
#include "testing/printer.h"
#include "testing/world.h"

namespace cairn::faults {
namespace {

// Of a scenario at most so many first faults of pairs, and so many second ones after each.
constexpr std::size_t most_of_pairs = 20;

using testing::Program;
using testing::StepResult;
using testing::with_fault;

void tell(const StepResult& result, const Program& program, Ending ending) {
  std::fprintf(stderr, "expected: %s\nfound: %s\n%s", result.expected.c_str(), result.found.c_str(),
               testing::print_program(program).c_str());
  std::fprintf(stderr, "# then: %s\n",
               ending == Ending::recovery ? "nothing fails, all is given back and used again"
                                          : "all is freed, and the allocator destroyed");
}

}  // namespace

struct Matrix::Base {
  const Scenario& scenario;
  Program program;
  Ending ending;
  Examined examined;
  OfScenario& tally;

  std::size_t begin() const { return ending == Ending::recovery ? 0 : examined.calls_of_ending; }
  static std::size_t end_of(const Examined& examined, Ending ending) {
    return ending == Ending::recovery ? examined.calls_of_ending : examined.watched.calls.size();
  }
  std::vector<Site> sites() const {
    return sites_of(examined.watched, begin(), end_of(examined, ending));
  }
};

bool Matrix::run(const Scenario& scenario) {
  if (!is_sound(scenario) || !run(scenario, Ending::recovery) ||
      !run(scenario, Ending::destruction)) {
    std::fprintf(stderr, "in the scenario %s\n", scenario.name.c_str());
    return false;
  }
  return true;
}

bool Matrix::is_sound(const Scenario& scenario) {
  const testing::RunReport report = testing::run(scenario.program);
  if (report.verdict == testing::Verdict::holds && report.notes.empty()) return true;
  std::fprintf(stderr, "without faults, line %d: %s\nexpected: %s\nfound: %s\n%s%s\n", report.line,
               report.statement.c_str(), report.expected.c_str(), report.found.c_str(),
               report.why.c_str(), report.notes.empty() ? "" : report.notes.front().c_str());
  return false;
}

bool Matrix::run(const Scenario& scenario, Ending ending) {
  const Program program = without_expectations(scenario.program);
  Examined examined = play(program, ending);
  if (!holds(examined, program, ending)) return false;
  const Base base{scenario, program, ending, std::move(examined),
                  tally_.by_scenario[scenario.name]};
  (ending == Ending::recovery ? base.tally.calls : base.tally.calls_of_ending) =
      base.sites().size();
  return run_each(base) && run_pairs(base);
}

bool Matrix::run_each(const Base& base) {
  for (const Site& site : base.sites()) {
    const WatchedCall& call = base.examined.watched.calls[site.place];
    for (const ErrorInMode& error : errors_of(site.call)) {
      if (!is_mine()) continue;
      const Program program = with_fault(base.program, fault_at(site, error));
      const Examined examined = play(program, base.ending);
      const auto& calls = examined.watched.calls;
      const bool has_come = site.place < calls.size() && calls[site.place].status == error.error;
      tally_.count(call, error, has_come);
      base.tally.single_faults += has_come ? 1 : 0;
      if (!holds(examined, program, base.ending)) return false;
    }
  }
  return true;
}

bool Matrix::run_pairs(const Base& base) {
  for (const Site& first : spread(base.sites(), most_of_pairs)) {
    if (is_mine() && !run_pairs_after(base, first)) return false;
  }
  return true;
}

bool Matrix::run_pairs_after(const Base& base, const Site& first) {
  const ErrorInMode error{error_that_leads_on(first.call), Mode::once};
  const Program with_first = with_fault(base.program, fault_at(first, error));
  const Examined examined = play(with_first, base.ending);
  if (!holds(examined, with_first, base.ending)) return false;
  const auto after =
      sites_of(examined.watched, first.place + 1, Base::end_of(examined, base.ending));
  for (const Site& second : spread(after, most_of_pairs)) {
    if (!run_pair(base, with_first, second)) return false;
  }
  return true;
}

bool Matrix::run_pair(const Base& base, const Program& with_first, const Site& second) {
  for (const ErrorInMode& error : second_errors(second.call)) {
    const Program program = with_fault(with_first, fault_at(second, error));
    const Examined examined = play(program, base.ending);
    const auto& calls = examined.watched.calls;
    const bool has_come = second.place < calls.size() && calls[second.place].status == error.error;
    ++tally_.pairs.planned;
    tally_.pairs.came += has_come ? 1 : 0;
    base.tally.pairs += has_come ? 1 : 0;
    if (!holds(examined, program, base.ending)) return false;
  }
  return true;
}

Examined Matrix::play(const Program& program, Ending ending) {
  ++tally_.plays;
  return examine(program, ending, plant_);
}

bool Matrix::holds(const Examined& examined, const Program& program, Ending ending) const {
  if (examined.result.kind != StepResult::Kind::finding) return true;
  const Program made_short = shortest(program, ending, plant_);
  tell(examine(made_short, ending, plant_).result, made_short, ending);
  return false;
}

}  // namespace cairn::faults
