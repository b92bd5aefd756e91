#include "sight.h"

#include <algorithm>
#include <cmath>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

template <class... Operations>
bool is_one_of(const Statement& statement) {
  return (std::holds_alternative<Operations>(statement.operation) || ...);
}

bool is_declaration(const Statement& statement) {
  return is_one_of<GpuDecl, Conf, SegmentDecl, BlockDecl>(statement);
}

// Each is one call of the allocator, of which the World knows the deed.
bool is_call(const Statement& statement) {
  return is_one_of<Alloc, Free, Use, Poll, EmptyCache, MemoryFraction, Reconfigure>(statement);
}

bool changes_memory(const Statement& statement) {
  return is_declaration(statement) || is_call(statement) ||
         is_one_of<DestroyStream, Reset>(statement);
}

int thread_of(const Statement& statement) { return statement.thread.value_or(0); }

Sights look(const World& world) {
  const std::vector<DeviceStats> stats = world.stats();
  Sights sights;
  for (DeviceIndex device = 0; device < world.device_count(); ++device) {
    sights.push_back({world.map(device), stats[static_cast<std::size_t>(device)],
                      world.spans_out(device), world.free_memory(device)});
  }
  return sights;
}

class Watch final : public Observer {
 public:
  Watch(const std::vector<NamedPromise>& promises, Tally& tally, Doctor doctor)
      : doctor_(std::move(doctor)) {
    for (const NamedPromise& each : promises) promises_.emplace_back(each.name, each.make(tally));
  }

  std::optional<Difference> after(const Statement& statement, const StepResult& result,
                                  const World& world) override {
    const bool succeeded = result.kind == StepResult::Kind::ok;
    Deed deed = is_call(statement) ? world.deed() : Deed{};
    Sights now = changes_memory(statement) || before_.empty() ? look(world) : before_;
    if (before_.empty()) before_.resize(now.size());
    if (doctor_ && !is_declaration(statement)) doctor_(now, deed);
    const Deed* known = is_call(statement) ? &deed : nullptr;
    const Sight sight{statement, succeeded, known, book_, before_, now};
    std::optional<Difference> found;
    if (!is_declaration(statement))
      found = first_of([&](Promise& promise) { return promise.after(sight); });
    book_.apply(statement, succeeded, known, now);
    before_ = std::move(now);
    return found;
  }

  std::optional<Difference> after_wind_down(const World& world) override {
    Sights now = look(world);
    Deed deed;
    if (doctor_) doctor_(now, deed);
    return first_of([&](Promise& promise) { return promise.at_the_end(book_, now); });
  }

 private:
  template <class Ask>
  std::optional<Difference> first_of(const Ask& ask) {
    for (const auto& [name, promise] : promises_) {
      auto difference = ask(*promise);
      if (difference) return Difference{name + (": " + difference->expected), difference->found};
    }
    return std::nullopt;
  }

  std::vector<std::pair<const char*, std::unique_ptr<Promise>>> promises_;
  Doctor doctor_;
  Book book_;
  Sights before_;
};

}  // namespace

void Book::apply(const Statement& statement, bool succeeded, const Deed* deed, const Sights& now) {
  const Operation& operation = statement.operation;
  if (is_declaration(statement)) return declare(statement);
  if (const auto* destroy = std::get_if<DestroyStream>(&operation))
    dead_streams_[destroy->stream] = true;
  if (!succeeded) return;
  if (const auto* fault = std::get_if<Fault>(&operation))
    plans_refusals_ |= fault->call == DriverCall::malloc;
  if (const auto* set = std::get_if<SetDevice>(&operation))
    current_devices_[thread_of(statement)] = set->device;
  if (const auto* limit = std::get_if<MemoryFraction>(&operation))
    fractions_[limit->gpu.value_or(device(statement))] = limit->fraction;
  if (const auto* changed = std::get_if<Reconfigure>(&operation))
    settings_ = parse_settings(changed->text, settings_, SettingsDialect::cairn).options;
  if (const auto* alloc = std::get_if<Alloc>(&operation))
    allocated(statement, *alloc, deed->address, now);
  if (freed_by(statement) != nullptr)
    live_.erase(std::get<NamedTarget>(std::get<Free>(operation).target).name);
  if (!std::holds_alternative<ThreadExit>(operation)) return;
  current_devices_.erase(thread_of(statement));
  std::erase_if(streams_, [&](const auto& known) {
    return known.first.name == "ptds" && known.first.thread == thread_of(statement);
  });
}

void Book::declare(const Statement& statement) {
  if (const auto* gpu = std::get_if<GpuDecl>(&statement.operation))
    memory_[gpu->device] = gpu->memory;
  if (const auto* conf = std::get_if<Conf>(&statement.operation)) {
    settings_ = parse_settings(conf->text, settings_, SettingsDialect::cairn).options;
    first_fraction_ = settings_.per_process_memory_fraction;
  }
  if (const auto* segment = std::get_if<SegmentDecl>(&statement.operation))
    next_declared_ = {segment->gpu.value_or(device(statement)), segment->address};
  const auto* block = std::get_if<BlockDecl>(&statement.operation);
  if (block == nullptr) return;
  auto& [device, address] = next_declared_;
  if (block->name) live_[*block->name] = {device, address, block->size};
  address = address + block->size;
}

void Book::allocated(const Statement& statement, const Alloc& alloc, Address address,
                     const Sights& now) {
  if (alloc.size == Bytes{0}) return;
  const DeviceIndex on = device(statement);
  live_[alloc.name] = {on, address, alloc.size};
  if (dead_streams_.contains(alloc.stream)) return;
  for (const SegmentInfo& segment : now[static_cast<std::size_t>(on)].map) {
    if (Span{{segment.address}, {segment.size_bytes}}.contains(address))
      streams_[place(statement, alloc)] = segment.stream;
  }
}

StreamPlace Book::place(const Statement& statement, const Alloc& alloc) const {
  const int thread = alloc.stream == "ptds" ? thread_of(statement) : 0;
  return {alloc.stream, device(statement), thread};
}

const LiveBlock* Book::freed_by(const Statement& statement) const {
  const auto* free = std::get_if<Free>(&statement.operation);
  const auto* target = free == nullptr ? nullptr : std::get_if<NamedTarget>(&free->target);
  if (target == nullptr || target->offset != Bytes{0}) return nullptr;
  const auto found = live_.find(target->name);
  return found == live_.end() ? nullptr : &found->second;
}

DeviceIndex Book::device(const Statement& statement) const {
  const auto found = current_devices_.find(thread_of(statement));
  return found == current_devices_.end() ? 0 : found->second;
}

Bytes Book::memory(DeviceIndex device) const {
  const auto found = memory_.find(device);
  return found == memory_.end() ? GpuDecl{}.memory : found->second;
}

std::optional<Bytes> Book::limit(DeviceIndex device) const {
  const auto found = fractions_.find(device);
  const double fraction = found == fractions_.end() ? first_fraction_ : found->second;
  if (fraction == 1.0) return std::nullopt;
  const double bytes = std::round(fraction * static_cast<double>(memory(device).count));
  return Bytes{static_cast<std::uint64_t>(bytes)};
}

std::optional<std::uint64_t> Book::stream(const Statement& statement) const {
  const auto& alloc = std::get<Alloc>(statement.operation);
  if (alloc.stream == "s0") return 0;
  const auto found = streams_.find(place(statement, alloc));
  if (found == streams_.end() || dead_streams_.contains(alloc.stream)) return std::nullopt;
  return found->second;
}

std::uint64_t Sight::calls(DriverCall call, bool succeeded_ones) const {
  if (deed == nullptr) return 0;
  return static_cast<std::uint64_t>(std::ranges::count_if(deed->calls, [&](const auto& made) {
    return made.call == call && (!succeeded_ones || made.status == CudaStatus::success);
  }));
}

bool Sight::any_call_failed() const {
  return deed != nullptr && std::ranges::any_of(deed->calls, [](const RecordedCall& made) {
           return made.status != CudaStatus::success;
         });
}

std::uint64_t Tally::of(const std::string& what) const {
  const auto found = counts_.find(what);
  return found == counts_.end() ? 0 : found->second;
}

std::string Tally::in_words() const {
  std::string words;
  for (const auto& [what, times] : counts_)
    words += (words.empty() ? "" : ", ") + std::to_string(times) + " " + what;
  return words;
}

std::function<std::unique_ptr<Observer>()> watch(std::vector<NamedPromise> promises, Tally& tally,
                                                 Doctor doctor) {
  return [promises = std::move(promises), &tally, doctor = std::move(doctor)] {
    return std::make_unique<Watch>(promises, tally, doctor);
  };
}

}  // namespace cairn::testing
