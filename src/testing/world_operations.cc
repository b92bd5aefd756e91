// What the application does, and what happens around it.
#include "testing/printer.h"
#include "testing/world_interleaved.h"

namespace cairn::testing {
namespace {

std::string describe_failure(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

}  // namespace

Stream handle_of(StreamRef stream) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): CUDA's handles are such pointers.
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(stream.handle));
}

DeviceIndex World::Impl::current_device() const {
  const auto found = current_devices_.find(thread());
  return found == current_devices_.end() ? 0 : found->second;
}

std::optional<StepResult> World::Impl::missing_device(DeviceIndex device) {
  if (machine_.allocator().find_device(device) != nullptr) return std::nullopt;
  return mistake("there is no device " + std::to_string(device));
}

Result<StreamRef, StepResult> World::Impl::stream(const std::string& name, DeviceIndex device) {
  const auto mentioned = streams_.mention(name, device);
  if (!mentioned) return Failure{mistake(mentioned.error())};
  const NamedStream* known = streams_.find(name);
  if (known != nullptr && known->is_dead) machine_.gpu().pass_dead_stream(known->ref);
  return *mentioned;
}

StepResult World::Impl::conclude(const Error& error) const {
  StepResult result;
  result.error = error.code;
  if (error.code == now_.statement->expected) return result;
  const bool none_expected = now_.statement->expected == ErrorCode::none;
  result.kind = none_expected ? StepResult::Kind::failed : StepResult::Kind::finding;
  result.expected = none_expected ? "success" : to_string(now_.statement->expected);
  result.found = error.code == ErrorCode::none ? "success" : describe_failure(error);
  return result;
}

StepResult World::Impl::conclude(const Operated& operated) const {
  if (operated.difference) return finding(*operated.difference);
  return conclude(operated.deed.error);
}

// ---- the simulated world ----

StepResult World::Impl::act(const Fault& fault) {
  machine_.faults().add({fault.call, fault.at, fault.error, fault.count, fault.sticky});
  return ok();
}

StepResult World::Impl::act(const NextSegment& next) {
  const DeviceIndex device = current_device();
  const auto set = machine_.gpu().set_next_address(device, next.address);
  if (!set) return mistake("no segment can be there: " + set.error());
  next_segment_places_[device] = {now_.statement->line, now_.statement->column};
  return ok();
}

StepResult World::Impl::act(const SetDevice& set) {
  if (auto missing = missing_device(set.device)) return *missing;
  current_devices_[thread()] = set.device;
  return ok();
}

// ---- the allocator's operations ----

StepResult World::Impl::act(const Alloc& alloc) {
  if (now_.statement->expected == ErrorCode::none && names_.is_live(alloc.name))
    return mistake("'" + alloc.name + "' is live; free it first");
  const auto on = stream(alloc.stream);
  if (!on) return on.error();
  Request request{alloc.size.count, current_device(), handle_of(*on)};
  if (alloc.align) request.alignment_bytes = alloc.align->count;
  const Operated done = operate([=](AllDevices& allocator) { return allocator.allocate(request); },
                                [request, handle = on->handle](model::Model& model) {
                                  const Bytes size{request.size_bytes};
                                  const Bytes alignment{request.alignment_bytes};
                                  return model.allocate({request.device, handle, size, alignment});
                                });
  streams_.note_device(alloc.stream, request.device);
  note_next_segment(done.deed.calls);
  const Error& error = done.deed.error;
  note_out_of_memory(request, error);
  if (done.difference || error || now_.statement->expected != ErrorCode::none)
    return conclude(done);
  return bind(alloc, *on, done.deed.address);
}

StepResult World::Impl::bind(const Alloc& alloc, StreamRef stream, Address address) {
  const DeviceIndex device = current_device();
  Range range{device, {address, {}}, alloc.size, stream.handle, streams_.id(stream), false};
  if (address != Address{}) {
    range.is_live = true;
    machine_.allocator().device(device).inspect([&](const Heap& heap) {
      const Block* block = heap.find_live(address);
      range.span.size = block == nullptr ? alloc.size : block->size;
    });
    machine_.gpu().hand_out(device, range.span, streams_.number(stream));
  }
  names_.bind(alloc.name, range);
  if (alloc.expected && *alloc.expected != address)
    return finding({print_address(*alloc.expected), print_address(address)});
  return ok();
}

void World::Impl::note_out_of_memory(const Request& request, const Error& error) {
  if (error.memory) {
    out_of_memory_[request.device] = *error.memory;
  } else if (error.code == ErrorCode::out_of_memory) {  // Refused without a look.
    const DeviceStats stats = machine_.allocator().device(request.device).stats();
    MemoryReport report;
    report.tried_bytes = request.size_bytes;
    report.total_bytes = machine_.gpu().mem_info(request.device)->total.count;
    report.free_bytes = machine_.gpu().mem_info(request.device)->free.count;
    report.allocated_bytes = static_cast<std::uint64_t>(stats.allocated_bytes.all.current);
    report.unallocated_bytes =
        static_cast<std::uint64_t>(stats.reserved_bytes.all.current) - report.allocated_bytes;
    out_of_memory_[request.device] = report;
  }
}

void World::Impl::note_next_segment(const std::vector<RecordedCall>& calls) {
  for (const RecordedCall& call : calls) {
    if (call.call != DriverCall::malloc || call.status != CudaStatus::success) continue;
    const auto place = next_segment_places_.find(call.device);
    if (place == next_segment_places_.end()) continue;
    now_.next_segment_place = place->second;
    next_segment_places_.erase(place);
  }
}

Result<Address, StepResult> World::Impl::target_of(const Free& free) const {
  if (std::holds_alternative<NullTarget>(free.target)) return Address{};
  if (const auto* address = std::get_if<Address>(&free.target)) return *address;
  const auto& target = std::get<NamedTarget>(free.target);
  const Range* range = names_.find(target.name);
  if (range == nullptr) return Failure{mistake("'" + target.name + "' is not known")};
  const Address address = range->span.begin + target.offset;
  if (range->is_live || range->span.size.count == 0) return address;
  const bool is_whole = target.offset.count == 0;
  const Names::Entry* owner =
      names_.live_overlapping(is_whole ? range->span : Span{address, Bytes{1}});
  if (owner != nullptr && (is_whole || names_.live_at(address) != nullptr))
    return Failure{mistake("what was '" + target.name + "' belongs to '" + owner->first + "' now")};
  return address;
}

// Both parts of a checked free, though the statement may give only one: the other is as it was at
// the allocation.
FreeCheck World::Impl::check_of(const Free& free, Address address,
                                std::optional<StreamRef> stream) {
  const Range* live = names_.live_at(address);
  const Range actual = live == nullptr ? Range{} : *live;
  const StreamRef owner = stream.value_or(StreamRef{actual.device, actual.handle});
  machine_.gpu().pass_dead_stream(owner);
  return {free.size.value_or(actual.requested), handle_of(owner)};
}

StepResult World::Impl::act(const Free& free) {
  const auto target = target_of(free);
  if (!target) return target.error();
  std::optional<FreeCheck> check;
  std::optional<StreamRef> owner;
  if (free.stream) {
    const auto named = stream(*free.stream);
    if (!named) return named.error();
    owner = *named;
  }
  if (free.size || free.stream) check = check_of(free, *target, owner);
  if (free.on && check) return unsupported("`on` of a checked free is not supported");
  if (free.on) return free_on(*target, *free.on);
  give_up(*target, std::nullopt);
  const Operated done = operate(
      [address = *target, check](AllDevices& allocator) {
        return allocator.free(address, check ? &*check : nullptr);
      },
      [address = *target, check](model::Model& model) {
        if (!check) return model.free(address);
        const auto handle = reinterpret_cast<std::uintptr_t>(check->stream);
        return model.free(address, check->size, handle);
      });
  return conclude_free(done, *target, std::nullopt);
}

StepResult World::Impl::free_on(Address address, const std::string& name) {
  const auto on = stream(name);
  if (!on) return on.error();
  give_up(address, streams_.number(*on));
  const Operated done = operate(
      [address, on = *on](AllDevices& allocator) {
        return allocator.free_on(address, handle_of(on), on.device);
      },
      [address, on = *on](model::Model& model) {
        return model.free_on(address, {on.device, on.handle});
      });
  return conclude_free(done, address, streams_.number(*on));
}

StepResult World::Impl::conclude_free(const Operated& operated, Address address,
                                      std::optional<simulator::StreamNumber> on) {
  now_.used_block = address;
  Range* live = names_.live_at(address);
  if (together_ != nullptr) {
    for (Together::GivenUp& each : together_->given_up)
      if (each.range.span.begin == address)
        each.is_kept = operated.deed.error.code != ErrorCode::none;
    return conclude(operated);
  }
  if (!operated.difference && !operated.deed.error && live != nullptr) {
    if (on) live->recorded.push_back(*on);
    machine_.gpu().take_back(live->device, live->span, live->recorded);
    names_.release(address);
  }
  return conclude(operated);
}

StepResult World::Impl::act(const Use& use) {
  const Range* range = names_.find(use.name);
  if (range == nullptr) return mistake("'" + use.name + "' is not known");
  const auto by = stream(use.stream);
  if (!by) return by.error();
  const Address address = range->span.begin;
  const Operated done = operate(
      [address, by = *by](AllDevices& allocator) {
        return allocator.record_stream(address, handle_of(by), by.device);
      },
      [address, by = *by](model::Model& model) {
        return model.record_stream(address, {by.device, by.handle});
      });
  now_.used_block = address;
  Range* live = names_.live_at(address);
  if (!done.deed.error && live != nullptr) live->recorded.push_back(streams_.number(*by));
  return conclude(done);
}

StepResult World::Impl::act(const Poll&) {
  const DeviceIndex device = current_device();
  return conclude(operate([=](AllDevices& allocator) { return allocator.process_events(device); },
                          [=](model::Model& model) { return model.process_events(device); }));
}

StepResult World::Impl::act(const EmptyCache& empty) {
  if (empty.pool) return unsupported("private pools are not supported yet");
  return conclude(operate([](AllDevices& allocator) { return allocator.empty_cache(); },
                          [](model::Model& model) { return model.empty_cache(); }));
}

StepResult World::Impl::act(const MemoryFraction& limit) {
  const DeviceIndex device = limit.gpu.value_or(current_device());
  if (auto missing = missing_device(device)) return *missing;
  const double fraction = limit.fraction;
  return conclude(operate(
      [=](AllDevices& allocator) { return allocator.set_memory_fraction(device, fraction); },
      [=](model::Model& model) { return model.set_memory_fraction(device, fraction); }));
}

StepResult World::Impl::act(const Reconfigure& reconfigure) {
  const std::string text = reconfigure.text;
  return conclude(operate(
      [=](AllDevices& allocator) { return allocator.reconfigure(text); },
      [=](model::Model& model) {
        const ParsedSettings parsed = parse_settings(text, model.options(), SettingsDialect::cairn);
        const bool can_be = parsed.ok && find_fault(parsed.options).empty();
        return model.reconfigure(can_be ? std::optional(parsed.options) : std::nullopt);
      }));
}

}  // namespace cairn::testing
