#include "relations.h"

#include <rapidcheck.h>

#include <algorithm>
#include <set>
#include <utility>

#include "allocator/all_devices.h"
#include "invariants/catalogue/report.h"
#include "relations_names.h"
#include "testing/op_draws.h"
#include "testing/op_run.h"
#include "testing/op_values.h"
#include "testing/printer.h"
#include "testing/shorten.h"

namespace cairn::proptests {
namespace {

using testing::Difference;
using testing::Program;
using testing::Statement;
using testing::StepResult;
using testing::Tape;
using testing::World;

constexpr std::size_t operations_of_a_tape = 160;
constexpr int most_runs = 2000;  // Of what fails, while it is made shorter.

template <class... Kinds>
bool is_any(const testing::Operation& operation) {
  return (std::holds_alternative<Kinds>(operation) || ...);
}

// The allocator was asked for something, so World::deed() is of this statement.
bool is_operation(const Statement& statement) {
  if (const auto* end = std::get_if<testing::DestroyStream>(&statement.operation))
    return !end->unannounced;
  return is_any<testing::Alloc, testing::Free, testing::Use, testing::Poll, testing::EmptyCache,
                testing::MemoryFraction, testing::Reconfigure>(statement.operation);
}

std::string in_words(const std::optional<std::uint64_t>& quantity) {
  return quantity ? std::to_string(*quantity) : "none";
}

std::string in_words(const Error& error) {
  std::string text = to_string(error.code);
  if (error.cuda_code != 0) text += " " + std::to_string(error.cuda_code);
  if (!error.memory) return text;
  const MemoryReport& memory = *error.memory;
  text += ": tried " + std::to_string(memory.tried_bytes);
  text += ", total " + in_words(memory.total_bytes) + ", free " + in_words(memory.free_bytes);
  text += ", limit " + in_words(memory.limit_bytes);
  text += ", allocated " + std::to_string(memory.allocated_bytes);
  text += ", unallocated " + std::to_string(memory.unallocated_bytes);
  return text + ", pending " + std::to_string(memory.pending_bytes);
}

void keep_current(StatArray& stats) {
  for (Stat* stat : {&stats.all, &stats.small_pool, &stats.large_pool})
    *stat = {stat->current, 0, 0, 0};
}

// Runs a Program statement by statement and writes the log.
class Writer {
 public:
  Writer(const Program& program, const LogOptions& options)
      : options_(options), names_(program), world_(program, world_options(options)) {
    nothing_pending_.assign(static_cast<std::size_t>(world_.device_count()), true);
  }

  Log write(const Program& program) {
    for (const Statement& statement : program.statements) {
      if (!step(statement)) return std::move(log_);
    }
    StepResult result = world_.finish();
    write_map();
    if (result.kind == StepResult::Kind::ok) result = world_.wind_down();
    if (result.kind == StepResult::Kind::ok) result = world_.end();
    note(result);
    return std::move(log_);
  }

 private:
  testing::WorldOptions world_options(const LogOptions& options) {
    testing::WorldOptions world;
    world.lockstep = options.checks;
    world.checkers = options.checks;
    if (options.checks) world.steps_between_maps = 1;
    world.meddle = [this](AllDevices& allocator) {
      for (DeviceIndex device = 0; device < allocator.device_count(); ++device)
        nothing_pending_[static_cast<std::size_t>(device)] = allocator.device(device).inspect(
            [](const DeviceState& state) { return state.queues.are_empty(); });
    };
    return world;
  }

  void note(const StepResult& result) {
    if (result.kind == StepResult::Kind::finding)
      log_.fault = Difference{result.expected, result.found};
  }

  // False where World found something.
  bool step(Statement statement) {
    const ErrorCode expected = std::exchange(statement.expected, ErrorCode::none);
    const StepResult result = world_.step(statement);
    statement.expected = expected;
    if (result.kind == StepResult::Kind::finding) {
      note(result);
      return false;
    }
    const bool succeeded = result.kind == StepResult::Kind::ok;
    if (!succeeded && result.kind != StepResult::Kind::failed) return true;  // A mistake.
    names_.follow(statement, succeeded);
    if (const auto* declared = std::get_if<testing::SegmentDecl>(&statement.operation))
      segments_.add({declared->address, declared->size});
    if (!is_declaration(statement)) write_step(statement);
    return true;
  }

  void write_step(Statement statement) {
    Step step;
    step.line = statement.line;
    step.expected = std::exchange(statement.expected, ErrorCode::none);
    statement.thread.reset();
    step.statement = testing::print_statement(statement);
    if (is_operation(statement)) write_deed(step);
    step.stats = world_.stats();
    if (options_.detail == Detail::no_order) {
      std::ranges::sort(step.calls);
      for (DeviceStats& stats : step.stats) {
        keep_current(stats.inactive_split);
        keep_current(stats.inactive_split_bytes);
      }
    }
    step.nothing_pending = nothing_pending_;
    log_.steps.push_back(std::move(step));
  }

  void write_deed(Step& step) {
    const testing::Deed& deed = world_.deed();
    for (const RecordedCall& call : deed.calls) {
      const bool succeeded = call.status == CudaStatus::success;
      const bool is_arrival = call.call == DriverCall::malloc && succeeded;
      if (is_arrival) segments_.add({call.address, call.size});
      if (is_arrival) step.arrival = Arrival{call.device, {call.address, call.size}};
      step.calls.push_back(in_words(call));
      if (call.call != DriverCall::free || !succeeded) continue;
      segments_.remove(call.address);
      step.departures.push_back(call.address);
    }
    step.error = deed.error.code;
    step.outcome = in_words(deed.error);
    if (deed.address != Address{}) step.outcome = segments_.of(deed.address);
  }

  std::string in_words(const RecordedCall& call) const {
    std::string text{to_string(call.call)};
    text +=
        " on device " + std::to_string(call.device) + ": " + std::string(to_string(call.status));
    if (call.size.count != 0) text += ", " + testing::print_size(call.size);
    if (call.address != Address{}) text += ", " + segments_.of(call.address);
    if (call.memory.total.count != 0)
      text += ", " + testing::print_size(call.memory.free) + " free";
    if (call.stream != 0) text += ", " + names_.of_handle(call.stream);
    if (call.stream_id != 0) text += ", which is " + names_.of_id(call.stream_id);
    if (call.is_done) text += ", done";
    if (call.event.value != 0 && options_.detail == Detail::all)
      text += ", event " + std::to_string(call.event.value);
    return text;
  }
  static std::string in_words(const Error& error) { return proptests::in_words(error); }

  void write_map() {
    std::vector<std::pair<int, std::string>> lines;
    for (DeviceIndex device = 0; device < world_.device_count(); ++device) {
      for (const SegmentInfo& segment : world_.map(device))
        lines.emplace_back(segments_.number_at({segment.address}), in_words(segment));
    }
    std::ranges::sort(lines);
    for (auto& [number, line] : lines) log_.map.push_back(std::move(line));
  }

  std::string in_words(const SegmentInfo& segment) const {
    std::string text = segments_.of({segment.address}) + " of device ";
    text += std::to_string(segment.device) + ", " + testing::print_size({segment.size_bytes});
    text += segment.is_large ? ", large, " : ", small, ";
    text += names_.of_id(segment.stream) + ":";
    for (const BlockInfo& block : segment.blocks) {
      text += std::string(" ") + to_string(block.state) + " " + std::to_string(block.size_bytes);
      if (block.state != BlockState::inactive)
        text += " (" + std::to_string(block.requested_size_bytes) + ")";
    }
    return text;
  }

  const LogOptions options_;
  std::vector<bool> nothing_pending_;
  StreamNames names_;
  SegmentNames segments_;
  World world_;
  Log log_;
};

std::optional<Difference> differ(const std::string& where, const std::string& expected,
                                 const std::string& found) {
  if (expected == found) return std::nullopt;
  return Difference{where + expected, where + found};
}

std::string lines_of(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += "\n  " + text;
  return joined;
}

std::optional<Difference> compare(const Step& expected, const Step& found) {
  if (auto difference = differ("", expected.statement, found.statement)) return difference;
  const std::string where = "after '" + expected.statement + "': ";
  if (auto difference = differ(where, expected.outcome, found.outcome)) return difference;
  if (expected.calls != found.calls)
    return differ(where, lines_of(expected.calls), lines_of(found.calls));
  for (std::size_t device = 0; device < expected.stats.size(); ++device) {
    auto difference = testing::compare(expected.stats[device], found.stats[device]);
    if (difference) return Difference{where + difference->expected, where + difference->found};
  }
  return std::nullopt;
}

std::string in_words(const std::optional<Difference>& fault) {
  return fault ? fault->found + " instead of " + fault->expected : "no finding";
}

// ---- tapes ----

bool is_of_memory(const testing::Op& op) {
  const testing::Fault fault = testing::fault_of(op, false);
  return fault.call == DriverCall::malloc || fault.call == DriverCall::mem_info;
}

Tape draw(std::uint64_t seed, Faults faults) {
  namespace setup_switch = testing::setup_switch;
  Tape tape = testing::draw_tape(seed, operations_of_a_tape);
  const auto leave_out = [&](int bit) {
    tape.setup.switches = static_cast<std::uint8_t>(tape.setup.switches & ~bit);
  };
  leave_out(setup_switch::pytorch_defects);  // To which handles, not streams, are alike.
  if (faults == Faults::all) return tape;
  leave_out(setup_switch::lost_devices);
  std::erase_if(tape.ops, [&](const testing::Op& op) {
    return op.kind == testing::OpKind::fault && (faults == Faults::none || !is_of_memory(op));
  });
  return tape;
}

testing::OpRun run(const Tape& tape) {
  testing::WorldOptions options;
  options.lockstep = false;
  options.checkers = false;
  return testing::run_tape(tape, options);
}

// REQUIRES: it does not hold.
Difference difference_of(const testing::OpRun& run) {
  if (!run.mistake) return {run.result.expected, run.result.found};
  return {"no mistake", testing::print_statement(*run.mistake) + ": " + run.result.why};
}

}  // namespace

bool is_declaration(const Statement& statement) {
  return is_any<testing::GpuDecl, testing::Conf, testing::SegmentDecl, testing::BlockDecl,
                testing::MakeStream, testing::NextSegment>(statement.operation);
}

Log write_down(const Program& program, const LogOptions& options) {
  return Writer(program, options).write(program);
}

std::optional<Difference> compare(const Log& expected, const Log& found) {
  for (std::size_t i = 0; i < std::min(expected.steps.size(), found.steps.size()); ++i)
    if (auto difference = compare(expected.steps[i], found.steps[i])) return difference;
  if (auto difference = differ("World: ", in_words(expected.fault), in_words(found.fault)))
    return difference;
  if (auto difference = differ("statements carried out: ", std::to_string(expected.steps.size()),
                               std::to_string(found.steps.size())))
    return difference;
  return differ("map:", lines_of(expected.map), lines_of(found.map));
}

Program prepare(const Program& program) {
  std::set<int> threads;
  for (const Statement& statement : program.statements)
    if (statement.thread.value_or(0) != 0) threads.insert(*statement.thread);
  const auto first = std::ranges::find_if_not(program.statements, is_declaration);
  Program prepared;
  prepared.statements.assign(program.statements.begin(), first);
  for (const int thread : threads) {
    Statement sync;
    sync.thread = thread;
    sync.operation = testing::Sync{"ptds", 0};
    prepared.statements.push_back(std::move(sync));
  }
  prepared.statements.insert(prepared.statements.end(), first, program.statements.end());
  int line = 0;
  for (Statement& statement : prepared.statements) statement.line = ++line;
  return prepared;
}

void check_relation(Faults faults, const Relation& relation) {
  const auto seed =
      *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
  // What breaks an invariant is found by World, and ended after that.
  const invariants::Recorder recorder;
  std::optional<Difference> difference;
  const auto fails = [&](const Tape& tape) {
    const testing::OpRun made = run(tape);
    Sample sample{prepare(made.program), testing::Dice(seed)};
    const auto found = made.holds() ? relation(sample) : difference_of(made);
    if (found) difference = found;
    return found.has_value();
  };
  Tape tape = draw(seed, faults);
  if (!fails(tape)) return;
  tape.ops = testing::shorten<testing::Op>(
      tape.ops, [&](const std::vector<testing::Op>& left) { return fails({tape.setup, left}); },
      most_runs);
  RC_FAIL("seed " + std::to_string(seed) + "\nexpected: " + difference->expected + "\nfound: " +
          difference->found + "\nprogram:\n" + testing::print_program(prepare(run(tape).program)));
}

}  // namespace cairn::proptests
