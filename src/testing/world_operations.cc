// What the application does, and what happens around it.
#include "testing/printer.h"
#include "testing/world_impl.h"

namespace cairn::testing {
namespace {

std::string describe_failure(const Error& error) {
  return std::string(to_string(error.code)) + ": " + error.message;
}

Stream handle_of(StreamId stream) {
  return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(stream.value));
}

Error error_of(const auto& result) { return result.failed() ? result.error() : Error{}; }

}  // namespace

DeviceIndex World::Impl::current_device() const {
  const auto found = current_devices_.find(thread());
  return found == current_devices_.end() ? 0 : found->second;
}

std::optional<StepResult> World::Impl::missing_device(DeviceIndex device) {
  if (machine_.allocator().find_device(device) != nullptr) return std::nullopt;
  return mistake("there is no device " + std::to_string(device));
}

Result<StreamId, StepResult> World::Impl::stream(const std::string& name) {
  const auto handle = streams_.mention(name, thread());
  if (handle) return *handle;
  return Failure{unsupported("ptds of more than one thread is not supported yet")};
}

StepResult World::Impl::conclude(const Error& error) const {
  StepResult result;
  result.error = error.code;
  if (error.code == statement_->expected) return result;
  const bool none_expected = statement_->expected == ErrorCode::none;
  result.kind = none_expected ? StepResult::Kind::failed : StepResult::Kind::finding;
  result.expected = none_expected ? "success" : to_string(statement_->expected);
  result.found = error.code == ErrorCode::none ? "success" : describe_failure(error);
  return result;
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
  next_segment_places_[device] = {statement_->line, statement_->column};
  return ok();
}

StepResult World::Impl::act(const SetDevice& set) {
  if (auto missing = missing_device(set.device)) return *missing;
  current_devices_[thread()] = set.device;
  return ok();
}

StepResult World::Impl::act(const MakeStream& make) {
  if (auto missing = missing_device(make.gpu.value_or(0))) return *missing;
  if (make.reuse) return unsupported("reuse= is not supported yet");
  if (!streams_.make(make.stream)) return mistake("stream '" + make.stream + "' exists already");
  return ok();
}

// No work runs yet, so there is none to complete or to wait for.
StepResult World::Impl::act(const Advance&) { return ok(); }

StepResult World::Impl::act(const Sync& sync) {
  if (auto missing = missing_device(sync.gpu.value_or(0))) return *missing;
  if (sync.stream) {
    const auto handle = stream(*sync.stream);
    if (!handle) return handle.error();
  }
  return conclude({});
}

StepResult World::Impl::act(const ThreadExit&) {
  current_devices_.erase(thread());
  return conclude({});
}

// ---- the allocator's operations ----

StepResult World::Impl::act(const Alloc& alloc) {
  if (statement_->expected == ErrorCode::none && names_.is_live(alloc.name))
    return mistake("'" + alloc.name + "' is live; free it first");
  const auto handle = stream(alloc.stream);
  if (!handle) return handle.error();
  Request request{alloc.size.count, current_device(), handle_of(*handle)};
  if (alloc.align) request.alignment_bytes = alloc.align->count;

  operated_ = true;
  const auto allocated = machine_.allocator().allocate(request);
  const Error error = error_of(allocated);
  const Address address = allocated ? *allocated : Address{};
  const auto calls = machine_.take_calls();
  if (lockstep_) {
    const model::Request same{request.device, *handle, alloc.size, Bytes{request.alignment_bytes}};
    if (auto difference = lockstep_->allocate(same, {calls, error.code, address}))
      return finding(*std::move(difference));
  }
  if (error.code == ErrorCode::out_of_memory) note_out_of_memory(request, calls);
  if (error || statement_->expected != ErrorCode::none) return conclude(error);
  return bind(alloc, request, address);
}

StepResult World::Impl::bind(const Alloc& alloc, const Request& request, Address address) {
  Range range{request.device, {address, {}}, alloc.size, identify(request.stream), false};
  if (address != Address{}) {
    range.is_live = true;
    machine_.allocator().device(request.device).inspect([&](const Heap& heap) {
      const Block* block = heap.live().find(address);
      range.span.size = block == nullptr ? alloc.size : block->size;
    });
    machine_.gpu().hand_out(request.device, range.span);
  }
  names_.bind(alloc.name, range);
  if (alloc.expected && *alloc.expected != address)
    return finding({print_address(*alloc.expected), print_address(address)});
  return ok();
}

void World::Impl::note_out_of_memory(const Request& request,
                                     const std::vector<RecordedCall>& calls) {
  const DeviceStats stats = machine_.allocator().device(request.device).stats();
  const auto memory = machine_.gpu().mem_info(request.device);
  OutOfMemoryReport report;
  report.tried = Bytes{request.size_bytes};
  for (const RecordedCall& call : calls)
    if (call.call == DriverCall::malloc) report.tried = call.size;
  report.total = memory->total;
  report.free = memory->free;
  report.allocated = Bytes{static_cast<std::uint64_t>(stats.allocated_bytes.all.current)};
  const Bytes reserved{static_cast<std::uint64_t>(stats.reserved_bytes.all.current)};
  report.unallocated = reserved - report.allocated;
  report.limit = report.total;
  out_of_memory_[request.device] = report;
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

// Both parts of a checked free, though the statement may give only one: the other is then right.
std::optional<FreeCheck> World::Impl::check_of(const Free& free, Address address,
                                               std::optional<StreamId> stream) const {
  if (!free.size && !stream) return std::nullopt;
  const Range* live = names_.live_at(address);
  const Range actual = live == nullptr ? Range{} : *live;
  return FreeCheck{free.size.value_or(actual.requested), stream.value_or(actual.stream)};
}

StepResult World::Impl::act(const Free& free) {
  if (free.on) return unsupported("`on` is not supported yet");
  const auto target = target_of(free);
  if (!target) return target.error();
  std::optional<StreamId> checked_stream;
  if (free.stream) {
    const auto handle = stream(*free.stream);
    if (!handle) return handle.error();
    checked_stream = *handle;
  }
  const auto check = check_of(free, *target, checked_stream);

  operated_ = true;
  const Error error = error_of(machine_.allocator().free(*target, check ? &*check : nullptr));
  const auto calls = machine_.take_calls();
  if (lockstep_) {
    const auto size = check ? std::optional(check->size) : std::nullopt;
    const auto owner = check ? std::optional(check->stream) : std::nullopt;
    if (auto difference = lockstep_->free(*target, size, owner, {calls, error.code}))
      return finding(*std::move(difference));
  }
  const Range* live = names_.live_at(*target);
  if (!error && live != nullptr) {
    machine_.gpu().take_back(live->device, live->span);
    names_.release(*target);
  }
  return conclude(error);
}

StepResult World::Impl::act(const EmptyCache& empty) {
  if (empty.pool) return unsupported("private pools are not supported yet");
  operated_ = true;
  const Error error = error_of(machine_.allocator().empty_cache());
  const auto calls = machine_.take_calls();
  if (lockstep_) {
    if (auto difference = lockstep_->empty_cache({calls, error.code}))
      return finding(*std::move(difference));
  }
  return conclude(error);
}

}  // namespace cairn::testing
