// What the operations of a tape are to a heap alone.
#include <algorithm>
#include <utility>

#include "testing/heap_runner.h"
#include "testing/op_values.h"

namespace cairn::testing {
namespace {

constexpr unsigned largest_exponent = 25;  // Of sizes where the operation itself gives none.

// A size of any order of magnitude.
Bytes some_size(const Op& op) {
  return Bytes{1 + op.amount % (std::uint64_t{1} << op.other % largest_exponent)};
}

}  // namespace

bool HeapRunner::execute(const Op& op) {
  switch (op.kind) {
    case OpKind::alloc:
      return live_.size() < most_live_ ? plan_alloc(op) : plan_free(op);
    case OpKind::free:
      return live_.empty() ? grow_or_shrink(op) : plan_free(op);
    case OpKind::launch:  // Work that the allocator is told of, or other work.
      return op.variant % 4 == 0 ? plan_use(op) : grow_or_shrink(op);
    case OpKind::use:
    case OpKind::order:
      return plan_use(op);
    case OpKind::sync:
    case OpKind::advance:
    case OpKind::thread_exit:
      return plan_sync(op);
    case OpKind::bad_free:
      return plan_bad_free(op);
    case OpKind::poll:
    case OpKind::set_device:
      return plan_poll(op);
    case OpKind::empty_cache:
      empty_cache();
      return true;
    case OpKind::fault:
      refuse_mallocs(1 + op.variant % 3);
      return true;
    case OpKind::make_stream:
      return plan_make_stream(op);
    case OpKind::destroy_stream:
      return plan_destroy_stream(op);
    case OpKind::memory_fraction:
      set_memory_fraction(fraction_of(op));
      return true;
    case OpKind::reconfigure:
      plan_reconfigure(op);
      return true;
    case OpKind::reset:
      reset(op.variant % 2 == 0);
      return true;
  }
  return false;
}

// ---- what an operation's fields mean ----

const std::vector<int>& HeapRunner::streams_of(DeviceIndex device) const {
  const std::vector<int>& streams = by_device_[static_cast<std::size_t>(device)];
  return streams.empty() ? by_device_.front() : streams;
}

const HeapStream& HeapRunner::pick_stream(std::uint8_t index, DeviceIndex device) const {
  const std::vector<int>& streams = streams_of(device);
  return stream(streams[index % streams.size()]);
}

const HeapStream* HeapRunner::alive_stream(StreamKey key) const {
  if (key == streams_.front().key) return &streams_.front();
  const auto is_it = [&](int number) { return stream(number).key == key; };
  const auto at = std::ranges::find_if(alive_, is_it);
  return at == alive_.end() ? nullptr : &stream(*at);
}

bool HeapRunner::is_live_again(Span freed) const {
  return std::ranges::any_of(live_, [&](const HeapBlock& block) {
    const Block* live = bare_.heap().find_live(block.address);
    return live != nullptr && live->span().overlaps(freed);
  });
}

// ---- plans ----

bool HeapRunner::grow_or_shrink(const Op& op) {
  const bool grows = live_.empty() || (live_.size() < most_live_ && op.luck % 2 == 0);
  if (!grows) return plan_free(op);
  allocate(pick_stream(op.stream, 0), some_size(op), block_granularity);
  return true;
}

bool HeapRunner::plan_alloc(const Op& op) {
  const Bytes alignment = alignment_of(op).value_or(block_granularity);
  allocate(pick_stream(op.stream, 0), size_of(op.amount), alignment);
  return true;
}

bool HeapRunner::plan_free(const Op& op) {
  const std::size_t place = pick_live(op);
  const int way = op.variant % 8;
  const bool can_be_checked = own(live_[place]).is_alive;  // It names the block's stream.
  FreeWay chosen;
  if (way == 1 || way == 2) chosen.on = &pick_stream(op.other, way == 1 ? 0 : device(op));
  chosen.says_size = can_be_checked && (way == 3 || way == 5);
  chosen.says_stream = can_be_checked && (way == 4 || way == 5);
  free(place, chosen);
  return true;
}

// By the first stream, from the one that is named on, that is not known to use the block.
bool HeapRunner::plan_use(const Op& op) {
  if (live_.empty()) return grow_or_shrink(op);
  const HeapBlock& block = live_[pick_live(op)];
  const Block* used = find(block);
  if (used == nullptr) return false;
  const std::vector<int>& streams = streams_of(device(op));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const HeapStream& user = stream(streams[(op.stream + i) % streams.size()]);
    const auto uses = bare_.heap().uses(*used);
    if (user.key == StreamKey{0, used->stream} || std::ranges::count(uses, user.key) > 0) continue;
    use(block, user);
    return true;
  }
  return plan_free(op);
}

// Of a block that is freed, inside a block, or of another size.
bool HeapRunner::plan_bad_free(const Op& op) {
  const auto& [freed, was] = freed_[op.block % freed_.size()];
  if (op.variant % 2 == 0 && was.size != Bytes{0} && !is_live_again(was)) {
    fail_to_free(freed.address, {}, Free{NamedTarget{name_of(freed), {}}, {}, {}, {}});
    return true;
  }
  if (live_.empty()) return grow_or_shrink(op);
  const HeapBlock& block = live_[pick_live(op)];
  if (block.size.count < 2 || op.variant % 4 == 1) {
    const Bytes wrong = block.size + Bytes{1};
    fail_to_free(block.address, wrong, Free{NamedTarget{name_of(block), {}}, {}, wrong, {}});
    return true;
  }
  const Bytes offset{1 + op.amount % (block.size.count - 1)};
  fail_to_free(block.address + offset, {}, Free{NamedTarget{name_of(block), offset}, {}, {}, {}});
  return true;
}

bool HeapRunner::plan_sync(const Op& op) {
  if (!bare_.is_pending()) return grow_or_shrink(op);
  const std::vector<int>& streams = streams_of(device(op));
  for (std::size_t i = 0; i < streams.size() && op.variant % 4 != 3; ++i) {
    const HeapStream& awaited = stream(streams[(op.stream + i) % streams.size()]);
    if (!bare_.is_pending(awaited.key)) continue;
    sync(awaited);
    return true;
  }
  sync_all();
  return true;
}

bool HeapRunner::plan_poll(const Op& op) {
  if (!bare_.is_pending()) return grow_or_shrink(op);
  poll();
  return true;
}

bool HeapRunner::plan_make_stream(const Op& op) {
  if (alive_.size() >= most_streams_) return plan_destroy_stream(op);
  const bool recycles = !dead_.empty() && op.variant % 4 != 0;
  MakeStream made;
  made.gpu = device(op);
  std::optional<std::uint64_t> handle;
  if (recycles) {
    const auto at = dead_.begin() + static_cast<std::ptrdiff_t>(op.stream % dead_.size());
    const HeapStream& dead = stream(*at);
    made.gpu = dead.key.device;
    made.reuse = name_of(dead);
    handle = dead.key.id.value;
    dead_.erase(at);
  }
  made.stream = name_of(stream(add_stream(*made.gpu, handle)));
  list_streams();
  tell([&](HeapStory& story) { story.say(made); });
  return true;
}

bool HeapRunner::plan_destroy_stream(const Op& op) {
  const HeapStream& ended = pick_stream(op.stream, device(op));
  if (ended.number == 0) return grow_or_shrink(op);
  const StreamKey key = ended.key;
  tell([&](HeapStory& story) { story.say(DestroyStream{name_of(ended), false}); });
  bare_.forget_stream(key);
  follow({}, [&](model::Model& model) { return model.forget_stream({key.device, key.id.value}); });
  model_.clock().forget(key);
  std::erase(alive_, ended.number);
  dead_.push_back(ended.number);
  streams_[static_cast<std::size_t>(ended.number)].is_alive = false;
  list_streams();
  return true;
}

void HeapRunner::plan_reconfigure(const Op& op) {
  Dice dice(op.luck);
  const std::string text = new_settings(dice);
  tell([&](HeapStory& story) { story.say(Reconfigure{text}); });
  const ParsedSettings parsed = parse_settings(text, bare_.options());
  const ErrorCode code = bare_.reconfigure(parsed.options);
  follow({code, {}}, [&](model::Model& model) { return model.reconfigure(parsed.options); });
}

// ---- operations ----

Block* HeapRunner::find(const HeapBlock& block) {
  Block* live = bare_.heap().find_live(block.address);
  if (live != nullptr && live->requested_size == block.size) return live;
  found("a live block of " + std::to_string(block.size.count) + " bytes", "none at its address");
  return nullptr;
}

void HeapRunner::allocate(const HeapStream& stream, Bytes size, Bytes alignment) {
  const HeapBlock named{{}, size, blocks_named_++, stream.number};
  tell([&](HeapStory& story) {
    const bool is_plain = alignment == block_granularity;
    story.say(Alloc{name_of(named),
                    size,
                    name_of(stream),
                    is_plain ? std::nullopt : std::optional(alignment),
                    {}});
  });
  const HeapRequest request{stream.key.id, size, alignment};
  const BareAllocator::Outcome outcome = bare_.allocate(request);
  follow(outcome, [&](model::Model& model) {
    return model.allocate({0, stream.key.id.value, size, alignment});
  });
  if (outcome.address == Address{}) return;
  check_handed_out(request, outcome.address);
  live_.push_back(named);
  live_.back().address = outcome.address;
}

void HeapRunner::free(std::size_t place, const FreeWay& way) {
  const HeapBlock block = live_[place];
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(place));
  Block* taken = find(block);
  if (taken == nullptr) return;
  freed_[freed_count_++ % freed_.size()] = {block, taken->span()};
  for (const StreamKey& key : bare_.heap().uses(*taken)) {
    if (const HeapStream* user = alive_stream(key)) work(*user, block);
  }
  if (way.on != nullptr && way.on->number != block.stream) work(*way.on, block);
  tell([&](HeapStory& story) {
    Free said{NamedTarget{name_of(block), {}}, {}, {}, {}};
    if (way.on != nullptr) said.on = name_of(*way.on);
    if (way.says_size) said.size = block.size;
    if (way.says_stream) said.stream = name_of(own(block));
    story.say(said);
  });
  const auto on = way.on == nullptr ? std::nullopt : std::optional(way.on->key);
  bare_.free(*taken, on);
  follow({}, [&](model::Model& model) {
    if (on) return model.free_on(block.address, {on->device, on->id.value});
    const std::uint64_t handle = own(block).key.id.value;
    return model.free(block.address, way.says_size ? std::optional(block.size) : std::nullopt,
                      way.says_stream ? std::optional(handle) : std::nullopt);
  });
}

void HeapRunner::fail_to_free(Address address, std::optional<Bytes> size, const Free& said) {
  tell([&](HeapStory& story) {
    story.say(said);
    story.ended(ErrorCode::invalid_argument);
  });
  const Block* block = bare_.heap().find_live(address);
  const bool is_refused = block == nullptr || (size && block->requested_size != *size);
  const ErrorCode code = is_refused ? ErrorCode::invalid_argument : ErrorCode::none;
  follow({code, {}}, [&](model::Model& model) { return model.free(address, size); });
}

void HeapRunner::use(const HeapBlock& block, const HeapStream& stream) {
  tell([&](HeapStory& story) { story.say(Use{name_of(block), name_of(stream)}); });
  Block* used = find(block);
  if (used == nullptr) return;
  bare_.heap().add_use(*used, stream.key);
  follow({}, [&](model::Model& model) {
    return model.record_stream(block.address, {stream.key.device, stream.key.id.value});
  });
  const std::vector<StreamKey> expected = model_.model().uses(block.address);
  const std::span<const StreamKey> uses = bare_.heap().uses(*used);
  if (!std::ranges::equal(expected, uses)) found(describe(expected), describe(uses));
}

// So that the stream's use of the block is not over when the block is freed.
void HeapRunner::work(const HeapStream& user, const HeapBlock& block) {
  tell([&](HeapStory& story) { story.work(user, block); });
  bare_.clock().work(user.key);
  model_.clock().work(user.key);
}

void HeapRunner::sync(const HeapStream& stream) {
  tell([&](HeapStory& story) { story.say(Sync{name_of(stream), {}}); });
  bare_.clock().sync(stream.key);
  model_.clock().sync(stream.key);
}

void HeapRunner::sync_all() {
  tell([&](HeapStory& story) {
    for (std::size_t device = 0; device < by_device_.size(); ++device)
      story.say(Sync{{}, static_cast<DeviceIndex>(device)});
  });
  bare_.clock().sync_all();
  model_.clock().sync_all();
}

void HeapRunner::poll() {
  tell([&](HeapStory& story) { story.say(Poll{}); });
  bare_.process_events();
  follow({}, [&](model::Model& model) { return model.process_events(0); });
}

void HeapRunner::empty_cache() {
  tell([&](HeapStory& story) { story.say(EmptyCache{}); });
  bare_.empty_cache();
  follow({}, [&](model::Model& model) { return model.empty_cache(); });
}

void HeapRunner::set_memory_fraction(double fraction) {
  tell([&](HeapStory& story) { story.say(MemoryFraction{fraction, 0}); });
  bare_.set_memory_fraction(fraction);
  follow({}, [&](model::Model& model) { return model.set_memory_fraction(0, fraction); });
}

void HeapRunner::refuse_mallocs(std::uint64_t count) {
  tell([&](HeapStory& story) {
    story.say(Fault{DriverCall::malloc, 1, CudaStatus::out_of_memory, count, false});
  });
  bare_.refuse_mallocs(count);
}

void HeapRunner::reset(bool peak) {
  const ResetWhat what = peak ? ResetWhat::peak : ResetWhat::accumulated;
  tell([&](HeapStory& story) { story.say(Reset{what}); });
  Ledger& ledger = bare_.heap().ledger();
  if (peak) {
    ledger.reset_peak();
    model_.model().reset_peak_stats();
  } else {
    ledger.reset_accumulated();
    model_.model().reset_accumulated_stats();
  }
}

}  // namespace cairn::testing
