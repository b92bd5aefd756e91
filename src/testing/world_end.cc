// What must be true at the end of a Program, and when all is given back.
#include "heap/heap.h"
#include "testing/printer.h"
#include "testing/world_impl.h"

namespace cairn::testing {
namespace {

// A statement of nobody's text, for the main thread.
Statement statement_of(Operation operation) {
  Statement statement;
  statement.operation = std::move(operation);
  return statement;
}

}  // namespace

StepResult World::Impl::finish() {
  invariants::Recorder recorder;
  if (open_segment_) return mistake("the blocks of the last segment do not tile it");
  if (auto unmade = unmade_during()) return *unmade;
  if (auto found = check_gpu()) return *found;
  if (auto difference = check_allocator(recorder, true)) return finding(*std::move(difference));
  if (auto difference = check_lockstep(true)) return finding(*std::move(difference));
  if (auto difference = check_uses(true)) return finding(*std::move(difference));
  return ok();
}

StepResult World::Impl::wind_down() {
  using Kind = StepResult::Kind;
  machine_.faults().clear();
  std::vector<std::string> names;
  for (const auto& [address, entry] : names_.live()) names.push_back(entry->first);
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    const StepResult waited = step(statement_of(Sync{{}, device}));
    if (waited.kind != Kind::ok) return waited;
  }
  for (const std::string& name : names) {
    const StepResult freed = step(statement_of(Free{NamedTarget{name, {}}, {}, {}, {}}));
    has_stuck_ = has_stuck_ || is_stuck(freed);
    if (freed.kind != Kind::ok && !is_stuck(freed)) return freed;
  }
  for (DeviceIndex device = 0; device < device_count(); ++device) {
    static_cast<void>(step(statement_of(SetDevice{device})));
    const StepResult polled = step(statement_of(Poll{}));
    if (polled.kind == Kind::failed) lost_devices_.insert(device);
    if (polled.kind != Kind::ok && polled.kind != Kind::failed) return polled;
  }
  StepResult emptied = step(statement_of(EmptyCache{}));
  if (emptied.kind == Kind::failed && !lost_devices_.empty()) emptied = ok();
  if (emptied.kind != Kind::ok) return emptied;
  for (DeviceIndex device = 0; device < device_count() && !has_stuck_; ++device)
    if (auto difference = check_nothing_left(device)) return finding(*std::move(difference));
  return finish();
}

// A dead stream used it, which PyTorch does not make good.
bool World::Impl::is_stuck(const StepResult& freed) const {
  return settings_.options.pytorch_defects && freed.kind == StepResult::Kind::failed &&
         freed.error == ErrorCode::cuda_error;
}

std::optional<Difference> World::Impl::check_nothing_left(DeviceIndex device) {
  const std::string where = " on device " + std::to_string(device);
  const DeviceAllocator& allocator = machine_.allocator().device(device);
  const auto live = allocator.inspect([](const Heap& heap) { return heap.live_count(); });
  if (live != 0) return Difference{"no live block" + where, std::to_string(live) + " live blocks"};
  if (lost_devices_.contains(device)) return std::nullopt;
  const DeviceStats stats = allocator.stats();
  if (stats.active.all.current != 0)
    return Difference{"no pending block" + where,
                      std::to_string(stats.active.all.current) + " pending blocks"};
  // A lost device ends the release, and those after it keep what they have.
  if (!lost_devices_.empty() && *lost_devices_.begin() < device) return std::nullopt;
  const std::string reserved = std::to_string(stats.reserved_bytes.all.current);
  if (reserved != "0") return Difference{"nothing reserved" + where, reserved + " bytes reserved"};
  const auto out = machine_.spans_out(device);
  if (out.empty()) return std::nullopt;
  return Difference{"nothing out at the driver" + where,
                    print_size(out.front().size) + " at " + print_address(out.front().begin)};
}

StepResult World::Impl::end() {
  std::vector<Bytes> totals;
  totals.reserve(static_cast<std::size_t>(device_count()));
  for (DeviceIndex device = 0; device < device_count(); ++device)
    totals.push_back(machine_.gpu().mem_info(device)->total);
  const invariants::Recorder recorder;
  machine_.end_allocator();
  if (auto difference = reported_by(recorder)) return finding(*std::move(difference));
  for (DeviceIndex device = 0; device < static_cast<int>(totals.size()); ++device) {
    const Bytes free = machine_.gpu().device_free(device);
    const Bytes total = totals[static_cast<std::size_t>(device)];
    if (!lost_devices_.contains(device) && free != total)
      return finding({"all memory of device " + std::to_string(device) + " free at the end",
                      print_size(total - free) + " out"});
  }
  const std::size_t events = machine_.gpu().event_count();
  if (lost_devices_.empty() && events != 0)
    return finding({"no event at the end", std::to_string(events) + " events"});
  return check_gpu().value_or(ok());
}

}  // namespace cairn::testing
