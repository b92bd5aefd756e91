// `parallel`: lines of different threads that run at the same time, as far as the scheduler lets
// them; what each of them found at its moment is set against the model in the order of tickets.
#include <algorithm>

#include "testing/world_interleaved.h"

namespace cairn::testing {
namespace {

using Kind = StepResult::Kind;

// Ranks of locks, in the order in which they may be taken.
constexpr int of_settings = 1;
constexpr int of_device = 2;
constexpr int of_the_rest = 3;  // What handles name; callbacks. Nothing is taken under these.

template <class T>
bool is_within(const void* address, const T& object) {
  const auto* byte = static_cast<const std::byte*>(address);
  const auto* begin = reinterpret_cast<const std::byte*>(&object);
  return std::less_equal<>{}(begin, byte) && std::less<>{}(byte, begin + sizeof(T));
}

// Of the device's whole state.
const void* whole_lock(const DeviceAllocator& device) {
  device.inspect([](const Heap&) {});
  return Scheduler::last_locked();
}

}  // namespace

StepResult World::Impl::act(const Schedule& schedule) {
  if (!Scheduler::exists()) return unsupported("`schedule` is for the program schedules alone");
  schedule_ = schedule.threads;
  return ok();
}

StepResult World::Impl::act(const Parallel& parallel) {
  if (!Scheduler::exists()) return unsupported("`parallel` is for the program schedules alone");
  if (device_count() != 1) return unsupported("`parallel` is for one device so far");
  if (!durings_.empty()) return mistake("the call of a `during` before this was not made");
  if (parallel.body.empty()) return ok();
  Together together;
  together.schedule = std::exchange(schedule_, {});
  const Carried mine = now_;
  const Scheduler::Outcome outcome = run_together(parallel, together);
  now_ = mine;
  now_.operated = true;
  now_.changed_streams = true;
  now_.was_parallel = true;
  is_stuck_ = outcome.is_stuck;
  write_body(parallel, together, outcome.schedule);
  if (together.mistake) return mistake(*together.mistake);
  if (is_stuck_ && outcome.fault.empty())
    return finding({"the same choices lead to the same points", "they led to others"});
  if (!is_stuck_) take_again(together);
  for (const Statement& statement : parallel.body) {
    const auto found = together.results.find(&statement);
    if (found == together.results.end() || found->second.line != 0) continue;
    found->second.line = statement.line;
    found->second.column = statement.column;
  }
  return conclude_parallel(together, outcome.fault);
}

Scheduler::Outcome World::Impl::run_together(const Parallel& parallel, Together& together) {
  std::map<int, std::vector<const Statement*>> lines;
  for (const Statement& statement : parallel.body)
    lines[statement.thread.value_or(0)].push_back(&statement);
  Scheduler::Bodies bodies;
  for (const auto& each : lines)
    bodies[each.first] = [this, &each] { run_lines(each.first, each.second); };
  const void* whole = whole_lock(machine_.allocator().device(0));
  const auto note_left = [&](int, const void* mutex) {
    Operation* operation = Operation::of_this_thread();
    if (operation == nullptr || rank_of(mutex) != of_device) return;
    operation->sections.push_back(
        {together.next_ticket++, mutex == whole, operation->deed.calls.size()});
  };
  const Scheduler::Watch watch{
      [&](const Scheduler::Point& point) { return next_thread(together, point); }, note_left,
      [this](const void* mutex) { return rank_of(mutex); }};
  together_ = &together;
  Scheduler::Outcome outcome = Scheduler::run(bodies, watch);
  together_ = nullptr;
  return outcome;
}

int World::Impl::next_thread(Together& together, const Scheduler::Point& point) const {
  const std::size_t step = together.lowest.size();
  together.lowest.push_back(point.can_run.front());
  if (together.schedule.empty() && options_.choose) return options_.choose(point);
  if (step >= together.schedule.size()) return point.can_run.front();
  const int next = together.schedule[step];
  if (std::ranges::find(point.can_run, next) != point.can_run.end()) return next;
  together.mistake = "thread " + std::to_string(next) + " cannot run at step " +
                     std::to_string(step + 1) + " of the schedule";
  return -1;
}

void World::Impl::write_body(const Parallel& parallel, const Together& together,
                             const std::vector<int>& schedule) {
  RanBody ran{0, true, false, {}, schedule};
  while (!ran.schedule.empty() && ran.schedule.back() == together.lowest[ran.schedule.size() - 1])
    ran.schedule.pop_back();
  for (const Statement& statement : parallel.body) {
    const auto found = together.results.find(&statement);
    if (found == together.results.end()) continue;
    const StepResult& result = found->second;
    if (result.kind == Kind::mistake || result.kind == Kind::unsupported) continue;
    ran.body.push_back(statement);
    if (options_.plays_bodies) ran.body.back().expected = ErrorCode::none;
    if (result.kind == Kind::failed) ran.body.back().expected = result.error;
  }
  ran_bodies_.push_back(std::move(ran));
}

// On a thread of the process of their own.
void World::Impl::run_lines(int thread, const std::vector<const Statement*>& lines) {
  const Scheduler::Unseen unseen;  // But what the allocator does.
  const invariants::Recorder recorder;
  threads_.run_apart(thread, [&] {
    for (const Statement* line : lines) {
      Statement statement = *line;
      if (options_.plays_bodies) statement.expected = ErrorCode::none;
      now_ = Carried{&statement, thread, false, {}, {}, {}, false, false};
      StepResult result;
      if (std::holds_alternative<ThreadExit>(statement.operation)) {
        result = mistake("a thread ends after the lines that run at the same time");
      } else {
        result =
            std::visit([&](const auto& operation) { return act(operation); }, statement.operation);
      }
      const bool goes_on =
          result.kind == Kind::ok || (options_.plays_bodies && result.kind != Kind::finding);
      together_->results[line] = std::move(result);
      if (!goes_on) break;
    }
  });
  if (!together_->broken_invariant) together_->broken_invariant = reported_by(recorder);
}

int World::Impl::rank_of(const void* mutex) const {
  AllDevices& allocator = const_cast<Machine&>(machine_).allocator();
  if (is_within(mutex, allocator.device(0))) return of_device;
  if (is_within(mutex, allocator.callbacks())) return of_the_rest;
  if (is_within(mutex, allocator.streams())) return of_the_rest;
  return of_settings;
}

// ---- what the lines do to names ----

void World::Impl::give_up(Address address, std::optional<simulator::StreamNumber> on) {
  if (together_ == nullptr) return;
  const Range* live = names_.live_at(address);
  if (live == nullptr) return;
  Range range = *live;
  together_->given_up.push_back({names_.live().at(address)->first, range, false});
  if (on) range.recorded.push_back(*on);
  machine_.gpu().take_back(range.device, range.span, range.recorded);
  names_.release(address);
}

void World::Impl::take_again(const Together& together) {
  for (const Together::GivenUp& each : together.given_up) {
    const Range& range = each.range;
    const bool is_anothers = names_.live_at(range.span.begin) != nullptr;
    if (!each.is_kept || is_anothers || names_.is_live(each.name)) continue;
    const bool is_live = machine_.allocator().device(range.device).inspect([&](const Heap& heap) {
      return heap.find_live(range.span.begin) != nullptr;
    });
    if (!is_live) continue;
    names_.bind(each.name, range);
    machine_.gpu().hand_out(range.device, range.span,
                            streams_.number({range.device, range.handle}));
  }
}

}  // namespace cairn::testing
