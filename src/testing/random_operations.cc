#include "testing/random_operations.h"

#include <algorithm>
#include <utility>

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

Statement statement(Operation operation) {
  Statement made;
  made.operation = std::move(operation);
  return made;
}

const std::string* name_of(const Operation& operation) {
  if (const auto* use = std::get_if<Use>(&operation)) return &use->name;
  const auto* free = std::get_if<Free>(&operation);
  const auto* target = free == nullptr ? nullptr : std::get_if<NamedTarget>(&free->target);
  return target == nullptr ? nullptr : &target->name;
}

}  // namespace

RandomOperations::RandomOperations(std::uint64_t seed)
    : dice_(seed), tastes_(dice_), most_streams_(3 + dice_.below(4)), threads_{0} {
  //                                             al  fr  la us or sy ad ba po em fa ms de mf re sw
  //                                             te rs
  constexpr std::array<std::uint64_t, kind_count> base{40, 34, 30, 6, 5, 1, 2, 3, 3,
                                                       2,  1,  2,  2, 2, 1, 2, 1, 1};
  for (std::size_t kind = 0; kind < weights_.size(); ++kind)
    weights_[kind] = base[kind] * (1 + dice_.below(4)) * (dice_.one_in(5) && kind > launch ? 0 : 1);
  if (!dice_.one_in(3)) weights_[fault] = 0;
  if (!tastes_.has_limits && !dice_.one_in(3)) weights_[memory_fraction] = 0;
  if (dice_.one_in(2)) weights_[thread_exit] = 0;
  for (int thread = 1; dice_.one_in(2) && thread < 4; ++thread) threads_.push_back(thread);
  next_thread_ = 4;
}

std::vector<Statement> RandomOperations::declarations() {
  std::vector<Statement> statements;
  for (DeviceIndex device = 0; device < tastes_.devices; ++device) {
    GpuDecl gpu;
    gpu.device = device;
    gpu.memory = draw_memory(dice_, tastes_);
    gpu.adjacent = dice_.one_in(2);
    gpu.reuse_addresses = dice_.one_in(2);
    statements.push_back(statement(gpu));
  }
  if (const std::string settings = draw_settings(dice_, tastes_); !settings.empty())
    statements.push_back(statement(Conf{settings}));
  if (dice_.one_in(4)) declare_segment(statements, draw_device());
  for (std::size_t i = 0; i < most_streams_; ++i) {
    statements.push_back(statement(draw_new_stream()));
    state_.apply(statements.back());
  }
  return statements;
}

void RandomOperations::declare_segment(std::vector<Statement>& statements, DeviceIndex device) {
  SegmentDecl segment;
  segment.address = {0x200000000000 + (static_cast<std::uint64_t>(device) << 40)};
  segment.pool = dice_.one_in(2) ? PoolKind::small : PoolKind::large;
  segment.size = Bytes{(segment.pool == PoolKind::small ? 2 : 14) * mib};
  segment.stream = "s0";
  segment.gpu = device;
  const Bytes piece{segment.size.count / 4};
  statements.push_back(statement(segment));
  for (int i = 0; i < 4; ++i) {
    BlockDecl block;
    block.size = piece;
    if (i != 2) block.name = "i" + std::to_string(i);
    if (block.name) state_.add_initial_block(*block.name, piece, device);
    statements.push_back(statement(block));
  }
}

MakeStream RandomOperations::draw_new_stream() {
  MakeStream made;
  made.stream = "s" + std::to_string(++streams_named_);
  made.gpu = dice_.one_in(2) ? 0 : draw_device();
  made.blocking = dice_.one_in(3);
  return made;
}

Statement RandomOperations::next() {
  while (plan_.empty()) plan(draw_kind());
  Statement planned = std::move(plan_.front());
  plan_.pop_front();
  return planned;
}

void RandomOperations::done(const Statement& was, bool succeeded) {
  if (std::holds_alternative<Alloc>(was.operation))
    failures_in_a_row_ = succeeded ? 0 : failures_in_a_row_ + 1;
  if (succeeded) {
    state_.apply(was);
  } else {
    plan_.clear();  // What was to come relied on it.
  }
}

bool RandomOperations::may_be_mistaken(const Statement& was) const {
  const std::string* name = name_of(was.operation);
  if (name == nullptr) return false;
  return std::ranges::find(state_.live(), *name, &KnownBlock::name) == state_.live().end();
}

RandomOperations::Kind RandomOperations::draw_kind() {
  std::uint64_t total = 0;
  for (const std::uint64_t weight : weights_) total += weight;
  std::uint64_t drawn = dice_.below(total);
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    if (drawn < weights_[kind]) return static_cast<Kind>(kind);
    drawn -= weights_[kind];
  }
  return alloc;
}

// ---- who says what ----

void RandomOperations::say(const Speaker& speaker, Operation operation) {
  const auto add = [&](Operation added) {
    Statement made = statement(std::move(added));
    if (speaker.thread != 0) made.thread = speaker.thread;
    plan_.push_back(std::move(made));
  };
  DeviceIndex current = state_.current_device(speaker.thread);
  for (const Statement& planned : plan_) {
    const auto* set = std::get_if<SetDevice>(&planned.operation);
    if (set != nullptr && planned.thread.value_or(0) == speaker.thread) current = set->device;
  }
  if (speaker.device && *speaker.device != current) add(SetDevice{*speaker.device});
  add(std::move(operation));
}

std::optional<RandomOperations::Speaker> RandomOperations::speaker_of(
    std::initializer_list<StreamPlace> places) {
  Speaker speaker{draw_thread(), {}};
  bool is_bound = false;
  for (const StreamPlace& place : places) {
    if (place.name != "s0" && place.name != "ptds") continue;
    if (speaker.device.value_or(place.device) != place.device) return std::nullopt;
    speaker.device = place.device;
    if (place.name != "ptds") continue;
    if (is_bound && speaker.thread != place.thread) return std::nullopt;
    speaker.thread = place.thread;
    is_bound = true;
  }
  return speaker;
}

bool RandomOperations::say_order(const StreamPlace& before, const StreamPlace& after) {
  if (before == after || !state_.is_alive(before) || !state_.is_alive(after)) return false;
  const auto speaker = speaker_of({before, after});
  if (!speaker) return false;
  say(*speaker, Order{before.name, after.name});
  return true;
}

bool RandomOperations::say_use(const KnownBlock& block, const StreamPlace& place) {
  if (!state_.is_alive(place)) return false;
  say(*speaker_of({place}), Use{block.name, place.name});
  return true;
}

void RandomOperations::say_sync(const StreamPlace& place) {
  if (state_.is_alive(place)) {
    say(*speaker_of({place}), Sync{place.name, {}});
  } else {
    say({draw_thread(), {}}, Sync{{}, place.device});
  }
}

// ---- what there is to speak of ----

StreamPlace RandomOperations::draw_place(DeviceIndex device) {
  std::vector<StreamPlace> places;
  for (const KnownStream& stream : state_.streams()) {
    const bool fits = stream.place.device == device && stream.life == KnownStream::Life::alive;
    if (fits) places.push_back(stream.place);
  }
  const bool takes_default = tastes_.has_default_streams && dice_.one_in(4);
  if (!places.empty() && !takes_default) return dice_.pick(places);
  if (tastes_.has_default_streams && dice_.one_in(2)) return {"ptds", device, draw_thread()};
  return {"s0", device, 0};
}

StreamPlace RandomOperations::draw_place() {
  const DeviceIndex device = dice_.one_in(2) ? 0 : draw_device();
  return draw_place(device);
}

const KnownStream* RandomOperations::draw_stream(KnownStream::Life life) {
  std::vector<const KnownStream*> streams;
  for (const KnownStream& stream : state_.streams()) {
    if (stream.life == life) streams.push_back(&stream);
  }
  return streams.empty() ? nullptr : dice_.pick(streams);
}

std::size_t RandomOperations::count_streams() const {
  return static_cast<std::size_t>(
      std::ranges::count(state_.streams(), KnownStream::Life::alive, &KnownStream::life));
}

}  // namespace cairn::testing
