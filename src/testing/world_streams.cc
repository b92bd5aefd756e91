// The application's streams, and the work that it puts on them.
#include "testing/world_impl.h"

namespace cairn::testing {

Result<StreamRef, StepResult> World::Impl::working_stream(const std::string& name) {
  auto named = stream(name);
  if (!named) return named;
  const NamedStream* known = streams_.find(name);
  if (known != nullptr && known->is_dead)
    return Failure{mistake("stream '" + name + "' is destroyed")};
  const bool is_destroyed_again = std::holds_alternative<DestroyStream>(now_.statement->operation);
  if (known != nullptr && known->is_ending && !is_destroyed_again)
    return Failure{mistake("a device was told that stream '" + name + "' ends; destroy it")};
  return named;
}

StepResult World::Impl::act(const MakeStream& make) {
  const DeviceIndex device = make.gpu.value_or(current_device());
  if (auto missing = missing_device(device)) return *missing;
  const auto made = streams_.make(make, device);
  return made ? ok() : mistake(made.error());
}

StepResult World::Impl::act(const DestroyStream& destroy) {
  if (destroy.stream == "s0" || destroy.stream == "ptds")
    return mistake("nobody destroys '" + destroy.stream + "'");
  const auto dying = working_stream(destroy.stream);
  if (!dying) return dying.error();
  const std::set<DeviceIndex> devices = streams_.devices(destroy.stream);
  const StreamId id = streams_.id(*dying);
  for (const DeviceIndex device : devices) {
    if (destroy.unannounced) break;
    const Operated done = operate(
        [device, dying = *dying](AllDevices& allocator) {
          return allocator.forget_stream(device, handle_of(dying));
        },
        [device, handle = dying->handle](model::Model& model) {
          return model.forget_stream({device, handle});
        });
    now_.changed_streams = true;
    follow_retired(device, id);
    if (done.difference || done.deed.error) return conclude(done);  // The stream lives on.
    streams_.note_ending(destroy.stream);
  }
  const auto destroyed = streams_.destroy(destroy.stream, !destroy.unannounced);
  return destroyed ? conclude(Error{}) : mistake(destroyed.error());
}

void World::Impl::follow_retired(DeviceIndex device, StreamId id) {
  for (const auto& [address, entry] : names_.live()) {
    Range& range = entry->second;
    if (range.device != device || range.stream != id) continue;
    machine_.allocator().device(device).inspect([&](const Heap& heap) {
      const Block* block = heap.find_live(range.span.begin);
      if (block != nullptr && is_retired(block->stream)) range.stream = block->stream;
    });
  }
}

Result<simulator::Touch, StepResult> World::Impl::touch_of(const Touch& touch) const {
  const Range* range = names_.find(touch.name);
  if (range == nullptr) return Failure{mistake("'" + touch.name + "' is not known")};
  if (!range->is_live && range->span.size.count != 0)
    return Failure{mistake("'" + touch.name + "' is freed; no kernel may touch it")};
  return simulator::Touch{range->device, {range->span.begin, range->requested}, touch.read_only};
}

StepResult World::Impl::act(const Launch& launch) {
  const auto on = working_stream(launch.stream);
  if (!on) return on.error();
  std::vector<simulator::Touch> touches;
  for (const Touch& each : launch.touches) {
    const auto touch = touch_of(each);
    if (!touch) return touch.error();
    if (touch->range.size.count != 0) touches.push_back(*touch);
  }
  const auto launched = machine_.gpu().launch(*on, touches, launch.ticks);
  return launched ? conclude(Error{}) : mistake(launched.error());
}

StepResult World::Impl::act(const Order& order) {
  const auto before = working_stream(order.before);
  if (!before) return before.error();
  const auto after = working_stream(order.after);
  if (!after) return after.error();
  const auto ordered = machine_.gpu().order(*before, *after);
  return ordered ? conclude(Error{}) : mistake(ordered.error());
}

StepResult World::Impl::act(const Advance& advance) {
  machine_.gpu().advance(advance.ticks);
  return ok();
}

StepResult World::Impl::act(const Sync& sync) {
  const DeviceIndex device = sync.gpu.value_or(current_device());
  if (auto missing = missing_device(device)) return *missing;
  if (!sync.stream) {
    const auto waited = machine_.gpu().synchronize(device);
    return waited ? conclude(Error{}) : mistake(waited.error());
  }
  const auto on = stream(*sync.stream, device);
  if (!on) return on.error();
  const auto waited = machine_.gpu().synchronize(*on);
  return waited ? conclude(Error{}) : mistake(waited.error());
}

}  // namespace cairn::testing
