// What the lines of a `parallel` did, in the order of tickets: each must be what the model does.
//
// A ticket is drawn where a critical section of the device's state ends, in which the operation
// took effect. Where it had the whole state once or more, these are its sections: what it tried in
// a lane before came to nothing. Else it is the last lane that it had.
#include <algorithm>

#include "testing/difference.h"
#include "testing/world_interleaved.h"

namespace cairn::testing {
namespace {

using Kind = StepResult::Kind;

// One of the moments of an operation.
template <class Operation>
struct Moment {
  std::uint64_t ticket = 0;
  Operation* operation = nullptr;
  std::size_t calls = 0;
  bool is_first = true;
  bool is_last = true;
};

template <class Operation>
void add_moments(Operation& operation, std::vector<Moment<Operation>>& moments) {
  auto sections = operation.sections;
  const bool had_whole = std::ranges::any_of(sections, [](const auto& s) { return s.is_whole; });
  if (had_whole) {
    std::erase_if(sections, [](const auto& section) { return !section.is_whole; });
  } else if (sections.size() > 1) {
    sections.erase(sections.begin(), sections.end() - 1);
  }
  if (sections.empty()) moments.push_back({operation.returned, &operation});
  for (std::size_t i = 0; i < sections.size(); ++i)
    moments.push_back(
        {sections[i].left, &operation, sections[i].calls, i == 0, i + 1 == sections.size()});
}

// Whether an operation must have been in a critical section.
bool touches_state(const Deed& deed, bool reads) {
  return reads || (deed.error.code == ErrorCode::none && deed.address != Address{});
}

class History {
 public:
  explicit History(Lockstep& lockstep) : lockstep_(lockstep) {}

  template <class Operation>
  std::optional<Difference> follow(Moment<Operation>& moment) {
    Operation& operation = *moment.operation;
    std::optional<Difference> difference;
    if (moment.is_first && moment.is_last) {
      difference = lockstep_.follow(operation.deed, operation.same);
    } else {
      difference = follow_phase(moment);
    }
    if (!difference && moment.is_last && operation.compare_read)
      difference = operation.compare_read(lockstep_.model());
    if (!difference && operation.sections.empty() &&
        touches_state(operation.deed, operation.compare_read != nullptr))
      difference = Difference{"it touches the device's state under its lock", "it does not"};
    if (difference)
      difference->expected = "at \"" + operation.words + "\": " + difference->expected;
    return difference;
  }

 private:
  template <class Operation>
  std::optional<Difference> follow_phase(Moment<Operation>& moment) {
    Operation& operation = *moment.operation;
    if (moment.is_first)
      operation.phases = std::make_unique<Lockstep::InPhases>(lockstep_, operation.same);
    if (moment.is_last) return operation.phases->end(operation.deed);
    operation.calls_of_phase.assign(
        operation.deed.calls.begin(),
        operation.deed.calls.begin() + static_cast<std::ptrdiff_t>(moment.calls));
    operation.phases->go_on(operation.calls_of_phase);
    return std::nullopt;
  }

  Lockstep& lockstep_;
};

}  // namespace

StepResult World::Impl::conclude_parallel(Together& together, const std::string& fault) {
  if (!fault.empty()) return finding({"locks are taken and left as they must be", fault});
  if (together.broken_invariant) return finding(*together.broken_invariant);
  std::vector<const StepResult*> results;
  for (const auto& [statement, result] : together.results) results.push_back(&result);
  const auto first = [&](auto... kinds) -> const StepResult* {
    const auto found = std::ranges::find_if(
        results, [&](const StepResult* result) { return ((result->kind == kinds) || ...); });
    return found == results.end() ? nullptr : *found;
  };
  if (const StepResult* found = first(Kind::finding)) return *found;
  if (auto found = check_gpu()) {
    if (found->kind == Kind::finding || !options_.plays_bodies) return *found;
  }
  if (lockstep_) {
    std::vector<Moment<Operation>> moments;
    for (const auto& operation : together.history) add_moments(*operation, moments);
    std::ranges::sort(moments, {}, &Moment<Operation>::ticket);
    History history(*lockstep_);
    for (Moment<Operation>& moment : moments)
      if (auto difference = history.follow(moment)) return finding(*std::move(difference));
  }
  if (options_.plays_bodies) return ok();
  const StepResult* bad = first(Kind::mistake, Kind::unsupported, Kind::failed);
  return bad == nullptr ? ok() : *bad;
}

// ---- reads ----

template <class What, class Read, class Foretell>
What World::Impl::read_together(Read read, Foretell foretell) {
  const auto what = std::make_shared<What>();
  static_cast<void>(operate(
      [=](AllDevices& allocator) -> Result<Done, Error> {
        *what = read(allocator);
        return Done{};
      },
      [](model::Model&) { return ErrorCode::none; }));
  together_->history.back()->compare_read = [=](const model::Model& model) {
    return compare(foretell(model), *what);
  };
  return *what;
}

DeviceStats World::Impl::read_stats(DeviceIndex device) {
  if (together_ == nullptr) return machine_.allocator().device(device).stats();
  return read_together<DeviceStats>(
      [=](AllDevices& allocator) { return allocator.device(device).stats(); },
      [=](const model::Model& model) { return model.stats(device); });
}

BlockMap World::Impl::read_map(DeviceIndex device) {
  if (together_ == nullptr) return machine_.allocator().device(device).map();
  return read_together<BlockMap>(
      [=](AllDevices& allocator) { return allocator.device(device).map(); },
      [=](const model::Model& model) { return model.map(device); });
}

// ---- foreign code ----

void World::Impl::register_callbacks() {
  Callbacks& callbacks = machine_.allocator().callbacks();
  callbacks.add(Callbacks::FreeMemory([](int) {
    Scheduler::before_foreign_code("a free-memory callback");
    return false;
  }));
  callbacks.add(Callbacks::OutOfMemoryObserver(
      [](const Error&) { Scheduler::before_foreign_code("an observer"); }));
  if (lockstep_) lockstep_->expect_callbacks();
}

}  // namespace cairn::testing
