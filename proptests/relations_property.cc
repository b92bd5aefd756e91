// What must not matter to the allocator does not: the same application on a machine that differs
// there sees the same. Each relation follows from the contract (src/allocator/README.md), as it
// says.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "relations.h"
#include "relations_programs.h"
#include "testing/parser.h"
#include "testing/play.h"
#include "testing/printer.h"

namespace {

using cairn::ErrorCode;
using cairn::proptests::check_relation;
using cairn::proptests::compare;
using cairn::proptests::Detail;
using cairn::proptests::Faults;
using cairn::proptests::is_set;
using cairn::proptests::Log;
using cairn::proptests::LogOptions;
using cairn::proptests::Order;
using cairn::proptests::Sample;
using cairn::proptests::Step;
using cairn::proptests::with_idle_statements;
using cairn::proptests::with_segments_elsewhere;
using cairn::proptests::with_streams_in_another_order;
using cairn::proptests::with_threads_in_another_order;
using cairn::proptests::without_names_of_freed;
using cairn::proptests::write_down;
using cairn::testing::Difference;
using cairn::testing::parse_program;
using cairn::testing::print_program;
using cairn::testing::Program;
using cairn::testing::RunOptions;
using cairn::testing::RunReport;
using cairn::testing::Verdict;

constexpr LogOptions no_order{Detail::no_order};

// No decision depends on where the allocator's own memory lies, on time, or on chance.
RC_GTEST_PROP(Relations, TheSameProgramRunsTheSame, ()) {
  check_relation(Faults::all, [](Sample& sample) {
    const Log once = write_down(sample.program);
    std::vector<std::unique_ptr<char[]>> in_the_way;
    for (int i = 0; i < 50; ++i)
      in_the_way.push_back(std::make_unique<char[]>(16 + sample.dice.below(500)));
    return compare(once, write_down(sample.program));
  });
}

// Model, checkers and hooks look on and change nothing.
RC_GTEST_PROP(Relations, ChecksChangeNothing, ()) {
  check_relation(Faults::all, [](Sample& sample) {
    return compare(write_down(sample.program), write_down(sample.program, {Detail::all, true}));
  });
}

// A Program is all that its text says.
RC_GTEST_PROP(Relations, ThePrintedProgramRunsTheSame, ()) {
  check_relation(Faults::all, [](Sample& sample) -> std::optional<Difference> {
    RunOptions options;
    options.world.lockstep = false;
    options.world.checkers = false;
    // Once more, since prepare() gave threads other numbers, and a fault may strike another call.
    const Program went = play(sample.program, options.world).as_it_went;
    const auto parsed = parse_program(print_program(went));
    if (!parsed) return Difference{"a program", parsed.error().message};
    Program read = *parsed;
    if (read != went) return Difference{"the same program", print_program(read)};
    const RunReport report = run(read, options);
    if (report.verdict != Verdict::holds) return Difference{report.expected, report.found};
    for (std::size_t i = 0; i < read.statements.size(); ++i)
      read.statements[i].line = went.statements[i].line;
    return compare(write_down(went), write_down(read));
  });
}

// Memory is reused under the key of its stream, and no rule compares keys of streams but to have
// an order: in which events are looked at, uses fenced, segments of several streams released. With
// no failure in between, the order changes nothing in the end. So handles and ids may be any.
RC_GTEST_PROP(Relations, HandlesOfStreamsDoNotMatter, ()) {
  check_relation(Faults::of_memory, [](Sample& sample) {
    const Program other = with_streams_in_another_order(sample.program, sample.dice);
    return compare(write_down(sample.program, no_order), write_down(other, no_order));
  });
}

// Likewise the number of a thread, which is the key of its default stream.
RC_GTEST_PROP(Relations, NumbersOfThreadsDoNotMatter, ()) {
  check_relation(Faults::of_memory, [](Sample& sample) {
    const Program other = with_threads_in_another_order(sample.program, sample.dice);
    return compare(write_down(sample.program, no_order), write_down(other, no_order));
  });
}

// The age of segments comes before addresses in free order, so that addresses are compared only
// within one segment. With best_fit_tie:address which of them is lower counts, and no more.
RC_GTEST_PROP(Relations, AddressesDoNotMatter, ()) {
  check_relation(Faults::all, [](Sample& sample) {
    const Program program = without_names_of_freed(sample.program);
    const Log log = write_down(program);
    const bool must_keep = is_set(program, "best_fit_tie:address");
    const Order order = must_keep || sample.dice.one_in(4) ? Order::kept : Order::any;
    return compare(log, write_down(with_segments_elsewhere(program, log, order, sample.dice)));
  });
}

// Whatever it answers, this step must not be noticed.
std::optional<Difference> find_effect(const Step& before, const Step& idle) {
  const std::string what = "'" + idle.statement + "': ";
  if (!idle.calls.empty()) return Difference{what + "no driver call", what + idle.calls.front()};
  if (idle.expected != ErrorCode::none && idle.error != idle.expected)
    return Difference{what + to_string(idle.expected), what + to_string(idle.error)};
  for (std::size_t device = 0; device < idle.stats.size(); ++device) {
    auto difference = cairn::testing::compare(before.stats[device], idle.stats[device]);
    if (difference) return Difference{what + difference->expected, what + difference->found};
  }
  return std::nullopt;
}

// The first effect of one that must have none; else none of them is left.
std::optional<Difference> take_out_idle_steps(Log& log) {
  std::vector<Step> steps;
  for (const Step& step : log.steps) {
    if (step.line != 0) {
      steps.push_back(step);
    } else if (auto effect = find_effect(steps.back(), step)) {
      return effect;
    }
  }
  log.steps = std::move(steps);
  return std::nullopt;
}

// What is refused as invalid_argument has changed nothing and asked the driver nothing, however
// often; nor does a request for nothing, a look where there is nothing to see, or a look on.
RC_GTEST_PROP(Relations, IdleStatementsChangeNothing, ()) {
  check_relation(Faults::all, [](Sample& sample) {
    const Log log = write_down(sample.program);
    Log found = write_down(with_idle_statements(sample.program, log, sample.dice));
    const auto effect = take_out_idle_steps(found);
    return effect ? effect : compare(log, found);
  });
}

}  // namespace
