#include "testing/op_decoder.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "testing/op_values.h"

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

OpDecoder::OpDecoder(const Setup& setup, bool lets_others_in)
    : setup_(setup),
      lets_others_in_(lets_others_in),
      devices_(devices_of(setup)),
      most_live_(setup.most_live % 64 == 0 ? 64 : setup.most_live % 64),
      most_streams_(3 + setup.streams % 4) {
  for (int thread = 0; thread <= setup.threads % 4; ++thread) threads_.push_back(thread);
}

std::vector<Statement> OpDecoder::declarations() {
  std::vector<Statement> statements;
  statements.reserve(static_cast<std::size_t>(devices_) + most_streams_ + 6);
  for (DeviceIndex device = 0; device < devices_; ++device)
    statements.push_back(statement(gpu_of(setup_, device)));
  if (const std::string settings = settings_of(setup_); !settings.empty())
    statements.push_back(statement(Conf{settings}));
  if (setup_.segment != 0) declare_segment(statements);
  for (std::size_t i = 0; i < most_streams_; ++i) {
    const int device = i < 4 ? setup_.stream_devices >> (2 * i) & 3 : 0;
    const bool is_blocking = (setup_.blocking >> i & 1) != 0;
    statements.push_back(statement(new_stream(device % devices_, is_blocking)));
    state_.apply(statements.back());
  }
  return statements;
}

void OpDecoder::declare_segment(std::vector<Statement>& statements) {
  const DeviceIndex device = setup_.segment % devices_;
  SegmentDecl segment;
  segment.address = {0x200000000000 + (static_cast<std::uint64_t>(device) << 40)};
  segment.pool = setup_.segment < 0x80 ? PoolKind::small : PoolKind::large;
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

MakeStream OpDecoder::new_stream(DeviceIndex device, bool blocking) {
  MakeStream made;
  made.stream = "s" + std::to_string(++streams_named_);
  made.gpu = device;
  made.blocking = blocking;
  return made;
}

std::optional<Statement> OpDecoder::next() {
  if (next_ == plan_.size()) return std::nullopt;
  return std::move(plan_[next_++]);
}

void OpDecoder::done(const Statement& was, bool succeeded) {
  if (std::holds_alternative<Alloc>(was.operation))
    failures_in_a_row_ = succeeded ? 0 : failures_in_a_row_ + 1;
  if (succeeded) {
    state_.apply(was);
  } else {
    state_.apply_failed(was);
    next_ = plan_.size();  // What was to come relied on it.
  }
}

void OpDecoder::done_within(const std::vector<Statement>& body) {
  for (const Statement& statement : body)
    statement.expected == ErrorCode::none ? state_.apply(statement)
                                          : state_.apply_failed(statement);
}

bool OpDecoder::may_be_mistaken(const Statement& was) const {
  const std::string* name = name_of(was.operation);
  if (name == nullptr) return false;
  return std::ranges::find(state_.live(), *name, &KnownBlock::name) == state_.live().end();
}

// ---- who says what ----

void OpDecoder::say(const Speaker& speaker, Operation operation) {
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

std::optional<OpDecoder::Speaker> OpDecoder::speaker_of(std::initializer_list<StreamPlace> places) {
  Speaker speaker{thread(), {}};
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

bool OpDecoder::say_order(const StreamPlace& before, const StreamPlace& after) {
  if (before == after || !state_.is_alive(before) || !state_.is_alive(after)) return false;
  const auto speaker = speaker_of({before, after});
  if (!speaker) return false;
  say(*speaker, Order{before.name, after.name});
  return true;
}

bool OpDecoder::say_use(const KnownBlock& block, const StreamPlace& place) {
  if (!state_.is_alive(place)) return false;
  say(*speaker_of({place}), Use{block.name, place.name});
  return true;
}

void OpDecoder::say_sync(const StreamPlace& place) {
  if (state_.is_alive(place)) {
    say(*speaker_of({place}), Sync{place.name, {}});
  } else {
    say({thread(), {}}, Sync{{}, place.device});
  }
}

// ---- what there is to speak of ----

std::vector<StreamPlace> OpDecoder::places(DeviceIndex device, int thread) const {
  std::vector<StreamPlace> places;
  for (const KnownStream& stream : state_.streams()) {
    const bool fits = stream.place.device == device && stream.life == KnownStream::Life::alive;
    if (fits) places.push_back(stream.place);
  }
  const bool takes_defaults = is_on(setup_switch::default_streams);
  if (takes_defaults || places.empty()) places.push_back({"s0", device, 0});
  if (takes_defaults) places.push_back({"ptds", device, thread});
  return places;
}

const KnownStream* OpDecoder::pick_stream(KnownStream::Life life, std::uint8_t index) const {
  std::vector<const KnownStream*> streams;
  for (const KnownStream& stream : state_.streams()) {
    if (stream.life == life) streams.push_back(&stream);
  }
  return streams.empty() ? nullptr : streams[index % streams.size()];
}

std::size_t OpDecoder::count_streams() const {
  return static_cast<std::size_t>(
      std::ranges::count(state_.streams(), KnownStream::Life::alive, &KnownStream::life));
}

}  // namespace cairn::testing
