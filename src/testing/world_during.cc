// `during`: what other threads do while an operation waits for the driver without the lock.
#include <algorithm>
#include <iterator>

#include "testing/printer.h"
#include "testing/world_interleaved.h"

namespace cairn::testing {

World::Impl::Operation*& World::Impl::Operation::of_this_thread() {
  thread_local Operation* current = nullptr;
  return current;
}

StepResult World::Impl::act(const During& during) {
  const Statement& statement = *now_.statement;
  durings_.push_back({during, durings_seen_++, statement.line, statement.column});
  return ok();
}

World::Impl::Operated World::Impl::operate_among_others(const Act& act,
                                                        const Lockstep::Same& same) {
  const Carried mine = now_;  // Other statements are carried out meanwhile.
  auto operation = std::make_unique<Operation>();
  operation->same = same;
  operation->words = print_statement(*mine.statement);
  Operation*& current = Operation::of_this_thread();
  current = operation.get();
  Ended ended;
  {
    const Scheduler::Seen seen;
    ended = act(machine_.allocator());
  }
  current = nullptr;
  now_ = mine;
  operation->deed.error = std::move(ended.error);
  operation->deed.address = ended.address;
  now_.deed = operation->deed;
  if (together_ != nullptr) {
    operation->returned = together_->next_ticket++;
    together_->history.push_back(std::move(operation));
    return {now_.deed, {}};
  }
  if (!lockstep_) return {now_.deed, {}};
  if (operation->phases) return {now_.deed, operation->phases->end(now_.deed)};
  return {now_.deed, lockstep_->follow(now_.deed, same)};
}

void World::Impl::before(DriverCall call, DeviceIndex) {
  if (together_ != nullptr) Scheduler::before_driver_call();
  if (is_in_body_ || durings_.empty() || Operation::of_this_thread() == nullptr) return;
  for (OpenDuring& open : durings_)
    if (open.during.call == call) ++open.calls_seen;
  const auto is_due = [call](const OpenDuring& open) {
    return open.during.call == call && open.calls_seen == open.during.at;
  };
  std::vector<OpenDuring> due;
  std::ranges::copy_if(durings_, std::back_inserter(due), is_due);
  std::erase_if(durings_, is_due);
  if (!due.empty()) run_within_call(due);
}

void World::Impl::after() {
  Operation* operation = Operation::of_this_thread();
  if (operation == nullptr) return;
  for (RecordedCall& call : machine_.take_calls()) operation->deed.calls.push_back(call);
}

// Before the call does its work.
void World::Impl::run_within_call(const std::vector<OpenDuring>& due) {
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    if (!machine_.allocator().device(device).is_locked()) continue;
    for (const OpenDuring& open : due) refuse_body(open);
    return;
  }
  Operation* operation = std::exchange(Operation::of_this_thread(), nullptr);
  if (lockstep_) {
    if (!operation->phases)
      operation->phases = std::make_unique<Lockstep::InPhases>(*lockstep_, operation->same);
    operation->phases->go_on(operation->deed.calls);
  }
  is_in_body_ = true;
  for (const OpenDuring& open : due) {
    if (!body_result_) run_body(open);
  }
  is_in_body_ = false;
  Operation::of_this_thread() = operation;
}

void World::Impl::refuse_body(const OpenDuring& open) {
  ran_bodies_.push_back({open.which, false, true, {}, {}});
  if (options_.plays_bodies) return;
  body_result_ = mistake("that call is made under the lock, where no other thread can run");
  body_result_->line = open.line;
  body_result_->column = open.column;
}

void World::Impl::run_body(const OpenDuring& open) {
  using Kind = StepResult::Kind;
  RanBody ran{open.which, false, false, {}, {}};
  const int own_thread = -1 - static_cast<int>(open.which);
  for (Statement statement : open.during.body) {
    if (options_.plays_bodies) statement.expected = ErrorCode::none;
    StepResult result = step_on(statement.thread.value_or(own_thread), statement);
    const bool makes_sense = result.kind != Kind::mistake && result.kind != Kind::unsupported;
    if (result.kind == Kind::failed) statement.expected = result.error;
    if (makes_sense) ran.body.push_back(std::move(statement));
    const bool goes_on =
        result.kind == Kind::ok || (options_.plays_bodies && result.kind != Kind::finding);
    if (goes_on) continue;
    body_result_ = std::move(result);
    break;
  }
  ran_bodies_.push_back(std::move(ran));
}

std::optional<StepResult> World::Impl::unmade_during() const {
  if (durings_.empty() || options_.plays_bodies) return std::nullopt;
  StepResult result = mistake("that call was never made");
  result.line = durings_.front().line;
  result.column = durings_.front().column;
  return result;
}

}  // namespace cairn::testing
