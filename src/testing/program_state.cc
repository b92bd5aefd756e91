#include "testing/program_state.h"

#include <algorithm>
#include <utility>

namespace cairn::testing {
namespace {

bool contains(const std::vector<StreamPlace>& places, const StreamPlace& place) {
  return std::ranges::find(places, place) != places.end();
}

void add(std::vector<StreamPlace>& places, const StreamPlace& place) {
  if (!contains(places, place)) places.push_back(place);
}

}  // namespace

void ProgramState::apply(const Statement& statement) {
  const int thread = statement.thread.value_or(0);
  std::visit([&](const auto& operation) { act(thread, operation); }, statement.operation);
}

void ProgramState::apply_failed(const Statement& statement) {
  const auto* destroy = std::get_if<DestroyStream>(&statement.operation);
  if (destroy == nullptr) return;
  const auto found = std::ranges::find_if(
      streams_, [&](const KnownStream& stream) { return stream.place.name == destroy->stream; });
  if (found != streams_.end()) found->life = KnownStream::Life::ending;
}

void ProgramState::add_initial_block(const std::string& name, Bytes size, DeviceIndex device) {
  KnownBlock block;
  block.name = name;
  block.size = size;
  block.device = device;
  block.own = {"s0", device, 0};
  block.is_ready = true;
  live_.push_back(std::move(block));
}

// ---- what there is ----

DeviceIndex ProgramState::current_device(int thread) const {
  const auto found = current_devices_.find(thread);
  return found == current_devices_.end() ? 0 : found->second;
}

const KnownStream* ProgramState::find_stream(const std::string& name) const {
  const auto found = std::ranges::find_if(
      streams_, [&](const KnownStream& stream) { return stream.place.name == name; });
  return found == streams_.end() ? nullptr : &*found;
}

KnownBlock* ProgramState::find_block(const std::string& name) {
  const auto found = std::ranges::find(live_, name, &KnownBlock::name);
  return found == live_.end() ? nullptr : &*found;
}

std::optional<StreamPlace> ProgramState::place_of(const std::string& name, int thread,
                                                  std::optional<DeviceIndex> gpu) const {
  const DeviceIndex device = gpu.value_or(current_device(thread));
  if (name == "s0") return StreamPlace{name, device, 0};
  if (name == "ptds") return StreamPlace{name, device, thread};
  const KnownStream* stream = find_stream(name);
  if (stream == nullptr) return std::nullopt;
  return stream->place;
}

bool ProgramState::is_alive(const StreamPlace& place) const {
  if (place.name == "s0") return true;
  if (place.name == "ptds")
    return std::ranges::find(ended_threads_, place.thread) == ended_threads_.end();
  const KnownStream* stream = find_stream(place.name);
  return stream != nullptr && stream->life == KnownStream::Life::alive;
}

bool ProgramState::is_blocking(const StreamPlace& place) const {
  if (place.name == "ptds") return true;
  const KnownStream* stream = find_stream(place.name);
  return stream != nullptr && stream->is_blocking;
}

bool ProgramState::is_ordered_by_itself(const StreamPlace& before, const StreamPlace& after) const {
  if (before == after) return true;
  if (before.device != after.device || !is_alive(before) || !is_alive(after)) return false;
  return (before.name == "s0" && is_blocking(after)) || (after.name == "s0" && is_blocking(before));
}

bool ProgramState::may_touch(const StreamPlace& place, const KnownBlock& block) const {
  if (block.is_untouchable) return false;
  return block.is_ready || block.own == place || contains(block.ready, place);
}

std::vector<StreamPlace> ProgramState::owed(const KnownBlock& block) const {
  std::vector<StreamPlace> places;
  for (const StreamPlace& place : block.touched) {
    if (!contains(block.recorded, place) && !is_ordered_by_itself(place, block.own))
      places.push_back(place);
  }
  return places;
}

// ---- what statements change ----

void ProgramState::act(int thread, const SetDevice& set) { current_devices_[thread] = set.device; }

void ProgramState::act(int thread, const MakeStream& make) {
  const DeviceIndex device = make.gpu.value_or(current_device(thread));
  streams_.push_back({{make.stream, device, 0}, make.blocking});
  if (!make.reuse) return;
  for (KnownStream& stream : streams_) {
    if (stream.place.name == *make.reuse) stream.life = KnownStream::Life::recycled;
  }
}

void ProgramState::act(int, const DestroyStream& destroy) {
  using Life = KnownStream::Life;
  for (KnownStream& stream : streams_) {
    if (stream.place.name == destroy.stream)
      stream.life = destroy.unannounced ? Life::unannounced : Life::announced;
  }
}

void ProgramState::act(int thread, const Launch& launch) {
  const auto on = place_of(launch.stream, thread);
  for (const Touch& touch : launch.touches) {
    KnownBlock* block = find_block(touch.name);
    if (block != nullptr && on && *on != block->own) add(block->touched, *on);
  }
}

void ProgramState::act(int thread, const Order& order) {
  const auto before = place_of(order.before, thread);
  const auto after = place_of(order.after, thread);
  if (!before || !after) return;
  for (KnownBlock& block : live_) {
    const bool is_passed_on =
        !block.is_ready && (*before == block.own || contains(block.ready, *before));
    if (is_passed_on) add(block.ready, *after);
    if (*after == block.own) std::erase(block.touched, *before);
  }
}

void ProgramState::act(int thread, const Sync& sync) {
  const DeviceIndex device = sync.gpu.value_or(current_device(thread));
  const auto only = sync.stream ? place_of(*sync.stream, thread, sync.gpu) : std::nullopt;
  const auto is_done = [&](const StreamPlace& place) {
    return only ? place == *only : place.device == device;
  };
  for (KnownBlock& block : live_) {
    if (is_done(block.own)) block.is_ready = true;
    std::erase_if(block.touched, is_done);
  }
}

void ProgramState::act(int thread, const Alloc& alloc) {
  if (alloc.size.count == 0) return;
  KnownBlock block;
  block.name = alloc.name;
  block.size = alloc.size;
  block.device = current_device(thread);
  block.own = place_of(alloc.stream, thread).value_or(StreamPlace{});
  block.is_untouchable = !is_alive(block.own);
  live_.push_back(std::move(block));
}

void ProgramState::act(int, const Free& free) {
  const auto* target = std::get_if<NamedTarget>(&free.target);
  KnownBlock* block = target == nullptr ? nullptr : find_block(target->name);
  if (block == nullptr) return;
  freed_.push_back(block->name);
  live_.erase(live_.begin() + (block - live_.data()));
}

void ProgramState::act(int thread, const Use& use) {
  KnownBlock* block = find_block(use.name);
  const auto place = place_of(use.stream, thread);
  if (block != nullptr && place) add(block->recorded, *place);
}

void ProgramState::act(int thread, const ThreadExit&) { ended_threads_.push_back(thread); }

}  // namespace cairn::testing
