#include "testing/world.h"

#include "base/thread_number.h"
#include "testing/printer.h"
#include "testing/world_impl.h"

namespace cairn::testing {

StepResult ok() { return {}; }

StepResult finding(Difference difference) {
  StepResult result;
  result.kind = StepResult::Kind::finding;
  result.expected = std::move(difference.expected);
  result.found = std::move(difference.found);
  return result;
}

StepResult mistake(std::string why) {
  StepResult result;
  result.kind = StepResult::Kind::mistake;
  result.why = std::move(why);
  return result;
}

StepResult unsupported(std::string why) {
  StepResult result;
  result.kind = StepResult::Kind::unsupported;
  result.why = std::move(why);
  return result;
}

namespace {

std::vector<Bytes> memory_of(const std::vector<simulator::DeviceOptions>& devices) {
  std::vector<Bytes> memory;
  memory.reserve(devices.size());
  for (const simulator::DeviceOptions& device : devices) memory.push_back(device.memory);
  return memory;
}

}  // namespace

World::Impl::Impl(const Program& program, const WorldOptions& options)
    : options_(options),
      settings_(read_settings(program)),
      machine_(declared_devices(program), settings_.options, *this, options_.wrap_driver),
      streams_(machine_.gpu(), settings_.options) {
  static_cast<void>(this_thread_number());  // The main thread's is the first.
  if (options.lockstep) lockstep_.emplace(settings_.options, memory_of(declared_devices(program)));
  if (options.has_callbacks) register_callbacks();
}

StepResult World::Impl::carry_out(const Statement& statement) {
  if (open_segment_ && !std::holds_alternative<BlockDecl>(statement.operation))
    return mistake("the blocks of the segment before this do not tile it");
  if (std::holds_alternative<ThreadExit>(statement.operation)) {
    threads_.end(thread());
    current_devices_.erase(thread());
    return conclude(Error{});
  }
  StepResult result;
  threads_.run(thread(), [&] {
    result = std::visit([&](const auto& operation) { return act(operation); }, statement.operation);
  });
  return result;
}

StepResult World::Impl::step(const Statement& statement) {
  ran_bodies_.clear();
  StepResult result = step_on(statement.thread.value_or(0), statement);
  if (options_.lets_others_in && !std::holds_alternative<During>(statement.operation))
    durings_.clear();
  return std::exchange(body_result_, std::nullopt).value_or(std::move(result));
}

StepResult World::Impl::step_on(int thread, const Statement& statement) {
  invariants::Recorder recorder;
  now_ = Carried{&statement, thread, false, {}, {}, {}, false, false};
  StepResult result = carry_out(statement);
  const bool was_carried_out =
      result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed;
  if (was_carried_out && !is_stuck_) result = check_all(std::move(result), recorder);
  if (result.line == 0) {
    result.line = statement.line;
    result.column = statement.column;
  }
  now_.statement = nullptr;
  return result;
}

std::vector<std::string> World::Impl::notes() const {
  std::vector<std::string> notes = settings_.warnings;
  for (const FaultPlan& plan : machine_.faults().unfired()) {
    Statement fault;
    fault.operation = Fault{plan.call, plan.at, plan.error, plan.count, plan.sticky};
    notes.push_back("never came: " + print_statement(fault));
  }
  return notes;
}

std::vector<DeviceStats> World::Impl::stats() {
  std::vector<DeviceStats> stats;
  if (is_stuck_) return stats;
  stats.reserve(static_cast<std::size_t>(device_count()));
  for (DeviceIndex device = 0; device < device_count(); ++device)
    stats.push_back(machine_.allocator().device(device).stats());
  return stats;
}

World::World(const Program& program, const WorldOptions& options)
    : impl_(std::make_unique<Impl>(program, options)),
      observer_(options.make_observer ? options.make_observer() : nullptr) {}
World::~World() {
  const invariants::Recorder dropped;  // What was found broken may be so to the end.
  if (impl_->is_stuck()) static_cast<void>(impl_.release());
  impl_.reset();
}

StepResult World::step(const Statement& statement) {
  if (observer_ != nullptr) observer_->before(statement);
  StepResult result = impl_->step(statement);
  const bool was_carried_out =
      result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed;
  if (observer_ == nullptr || !was_carried_out) return result;
  auto difference = observer_->after(statement, result, *this);
  return difference ? finding(*std::move(difference)) : result;
}

StepResult World::finish() { return impl_->finish(); }
StepResult World::wind_down() {
  StepResult result = impl_->wind_down();
  if (observer_ == nullptr || result.kind != StepResult::Kind::ok) return result;
  auto difference = observer_->after_wind_down(*this);
  return difference ? finding(*std::move(difference)) : result;
}
StepResult World::end() { return impl_->end(); }
void World::clear_faults() { impl_->machine().faults().clear(); }
std::vector<RanBody> World::take_bodies() { return impl_->take_bodies(); }
std::vector<std::string> World::notes() const { return impl_->notes(); }
std::vector<DeviceStats> World::stats() const { return impl_->stats(); }
std::uint64_t World::operations() const { return impl_->operations(); }

DeviceIndex World::device_count() const { return impl_->machine().allocator().device_count(); }
const Machine& World::machine() const { return impl_->machine(); }
std::optional<StreamId> World::stream(const std::string& name) const {
  return impl_->stream_id(name);
}
const Deed& World::deed() const { return impl_->deed(); }
BlockMap World::map(DeviceIndex device) const {
  return impl_->machine().allocator().device(device).map();
}
std::vector<Span> World::spans_out(DeviceIndex device) const {
  return impl_->machine().spans_out(device);
}
Bytes World::free_memory(DeviceIndex device) const {
  return impl_->machine().gpu().mem_info(device)->free;
}

namespace {

Verdict verdict_of(StepResult::Kind kind) {
  switch (kind) {
    case StepResult::Kind::ok:
      return Verdict::holds;
    case StepResult::Kind::failed:
    case StepResult::Kind::finding:
      return Verdict::violated;
    case StepResult::Kind::mistake:
      return Verdict::mistaken;
    case StepResult::Kind::unsupported:
      return Verdict::unsupported;
  }
  return Verdict::violated;
}

// The statement that stands at a line, in text form.
std::string statement_at(const Program& program, int line) {
  for (const Statement& statement : program.statements)
    if (line != 0 && statement.line == line) return print_statement(statement);
  return {};
}

}  // namespace

RunReport run(const Program& program, const RunOptions& options) {
  World world(program, options.world);
  RunReport report;
  StepResult result;
  const Statement* last = nullptr;
  for (const Statement& statement : program.statements) {
    last = &statement;
    result = world.step(statement);
    if (result.kind != StepResult::Kind::ok) break;
    ++report.steps;
    if (options.progress) options.progress(report.steps);
    last = nullptr;
  }
  if (last == nullptr) result = world.finish();
  report.verdict = verdict_of(result.kind);
  if (report.verdict != Verdict::holds) {
    report.line = result.line;
    report.column = result.column;
    report.statement = statement_at(program, result.line);
    if (report.statement.empty() && last != nullptr) report.statement = print_statement(*last);
  }
  report.expected = std::move(result.expected);
  report.found = std::move(result.found);
  report.why = std::move(result.why);
  report.notes = world.notes();
  report.stats = world.stats();
  report.operations = world.operations();
  return report;
}

}  // namespace cairn::testing
