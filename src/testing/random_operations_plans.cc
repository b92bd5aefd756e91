// The statements that RandomOperations makes, a plan at a time: an operation, and before it what
// the rules of streams demand. A plan ends at its first statement that fails.
#include <algorithm>
#include <utility>

#include "testing/random_operations.h"

namespace cairn::testing {

void RandomOperations::plan(Kind kind) {
  switch (kind) {
    case alloc:
      return state_.live().size() < tastes_.most_live ? plan_alloc() : plan_free();
    case free_block:
      return plan_free();
    case launch:
      return plan_launch();
    case use:
      return plan_use();
    case order:
      return plan_order();
    case sync:
      return plan_sync();
    case advance:
      return say({draw_thread(), {}}, Advance{draw_ticks(dice_)});
    case bad_free:
      return plan_bad_free();
    case poll:
      return say({draw_thread(), draw_device()}, Poll{});
    case empty_cache:
      return say({draw_thread(), {}}, EmptyCache{});
    case fault:
      return say({}, draw_fault(dice_, tastes_));
    case make_stream:
      return plan_make_stream();
    case destroy_stream:
      return plan_destroy_stream();
    case memory_fraction:
      return say({draw_thread(), {}}, MemoryFraction{draw_fraction(dice_), draw_device()});
    case reconfigure:
      return say({draw_thread(), {}}, Reconfigure{draw_new_settings(dice_)});
    case switch_device:
      return say({draw_thread(), {}}, SetDevice{draw_device()});
    case thread_exit:
      return plan_thread_exit();
    case reset:
      return say({}, Reset{dice_.one_in(2) ? ResetWhat::peak : ResetWhat::accumulated});
    case kind_count:
      break;
  }
}

void RandomOperations::plan_alloc() {
  Alloc made;
  made.name = "a" + std::to_string(blocks_named_++);
  made.size = draw_size(dice_, tastes_);
  if (dice_.one_in(8)) made.align = draw_alignment(dice_);
  StreamPlace place = draw_place();
  const KnownStream* dead = draw_stream(KnownStream::Life::unannounced);
  if (dead != nullptr && dice_.one_in(20)) place = dead->place;
  made.stream = place.name;
  Speaker speaker = *speaker_of({place});
  speaker.device = place.device;
  say(speaker, made);
}

bool RandomOperations::settle(const KnownBlock& block, const StreamPlace& place,
                              std::optional<StreamPlace>& on) {
  const bool is_alive = state_.is_alive(place);
  if (is_alive && !on && dice_.one_in(3)) {
    on = place;
    return true;
  }
  if (dice_.one_in(3) && say_order(place, block.own)) return true;
  if (is_alive && !dice_.one_in(10)) return say_use(block, place);
  if (dice_.one_in(2)) return false;
  say_sync(place);
  return true;
}

void RandomOperations::plan_free() {
  if (state_.live().empty()) return plan_alloc();
  const KnownBlock& block = draw_block();
  std::optional<StreamPlace> on;
  for (const StreamPlace& place : state_.owed(block)) {
    if (!settle(block, place, on)) return;
  }
  if (!on && dice_.one_in(10)) on = draw_place();
  Free given;
  given.target = NamedTarget{block.name, {}};
  const bool is_checked = !on && state_.is_alive(block.own);  // It names the block's stream.
  if (is_checked && dice_.one_in(8)) given.size = block.size;
  auto speaker = on ? speaker_of({*on}) : Speaker{draw_thread(), {}};
  if (on) {
    given.on = on->name;
  } else if (is_checked && dice_.one_in(8)) {
    given.stream = block.own.name;
    speaker = speaker_of({block.own});
  }
  say(*speaker, given);
}

bool RandomOperations::make_ready(const KnownBlock& block, const StreamPlace& place) {
  if (state_.may_touch(place, block)) return true;
  if (block.is_untouchable) return false;
  if (!dice_.one_in(20) && say_order(block.own, place)) return true;
  if (!dice_.one_in(4)) return false;
  say_sync(block.own);
  return true;
}

void RandomOperations::plan_launch() {
  if (state_.live().empty()) return plan_alloc();
  const KnownBlock& first = draw_block();
  const bool takes_own = dice_.one_in(3) && state_.is_alive(first.own);
  StreamPlace on = takes_own ? first.own : draw_place(first.device);
  if (dice_.one_in(8)) on = draw_place();
  Launch kernel;
  for (std::uint64_t i = 0, wanted = 1 + dice_.below(3); i < wanted; ++i) {
    const KnownBlock& block = i == 0 ? first : draw_block();
    const auto is_this = [&](const Touch& touch) { return touch.name == block.name; };
    if (std::ranges::any_of(kernel.touches, is_this)) continue;
    if (make_ready(block, on)) kernel.touches.push_back({block.name, dice_.one_in(4)});
  }
  if (kernel.touches.empty()) return;
  kernel.stream = on.name;
  kernel.ticks = draw_ticks(dice_);
  say(*speaker_of({on}), kernel);
}

void RandomOperations::plan_use() {
  const auto& freed = state_.freed();
  const bool is_bad = state_.live().empty() || dice_.one_in(20);
  if (is_bad && freed.empty()) return;
  const StreamPlace place = draw_place();
  say(*speaker_of({place}), Use{is_bad ? dice_.pick(freed) : draw_block().name, place.name});
}

void RandomOperations::plan_order() {
  const StreamPlace before = draw_place();
  const StreamPlace after = dice_.one_in(3) ? draw_place() : draw_place(before.device);
  say_order(before, after);
}

void RandomOperations::plan_sync() {
  const StreamPlace place = draw_place();
  if (!dice_.one_in(4)) return say_sync(place);
  say({draw_thread(), {}}, Sync{{}, place.device});
}

// Freed already, inside a block, in no memory, or checked with what it is not.
void RandomOperations::plan_bad_free() {
  Free given;
  given.target = Address{0x1234};
  if (dice_.one_in(20)) given.target = NullTarget{};
  if (dice_.one_in(2) && !state_.freed().empty()) {
    given.target = NamedTarget{dice_.pick(state_.freed()), {}};
    if (dice_.one_in(3)) given.on = draw_place().name;
  } else if (!state_.live().empty()) {
    const KnownBlock& block = draw_block();
    given.target = NamedTarget{block.name, {}};
    if (block.size.count > 1 && dice_.one_in(3)) {
      given.target = NamedTarget{block.name, Bytes{1 + dice_.below(block.size.count - 1)}};
    } else if (dice_.one_in(2) && state_.is_alive(block.own)) {
      given.size = block.size + Bytes{1};
    } else {
      given.stream = "other";
    }
  }
  say({draw_thread(), {}}, given);
}

// Where an unannounced end is followed by a stream of the same handle, both are one stream to the
// allocator; so nothing of the first may be left when the second begins. With stream_identity:id
// they are two.
void RandomOperations::plan_make_stream() {
  using Life = KnownStream::Life;
  if (count_streams() >= most_streams_) return plan_destroy_stream();
  MakeStream made = draw_new_stream();
  // A lost device is not asked: the stream that was known last under the handle is taken for it.
  const bool is_confused = tastes_.has_identity && tastes_.has_lost_devices;
  const bool takes_announced = is_confused || dice_.one_in(2);
  const KnownStream* dead = draw_stream(takes_announced ? Life::announced : Life::unannounced);
  if (dead == nullptr || dice_.one_in(3)) return say({draw_thread(), {}}, made);
  made.reuse = dead->place.name;
  made.gpu = dead->place.device;
  const bool is_taken_for_one = dead->life == Life::unannounced && !tastes_.has_identity;
  for (DeviceIndex device = 0; is_taken_for_one && device < tastes_.devices; ++device)
    say({}, Sync{{}, device});
  say({draw_thread(), {}}, made);
}

void RandomOperations::plan_destroy_stream() {
  const KnownStream* stream = draw_stream(KnownStream::Life::alive);
  if (stream == nullptr) return;
  say({draw_thread(), {}}, DestroyStream{stream->place.name, dice_.one_in(3)});
}

void RandomOperations::plan_thread_exit() {
  if (threads_.size() < 2 || next_thread_ > highest_thread) return;
  const std::size_t ended = 1 + dice_.below(threads_.size() - 1);
  say({threads_[ended], {}}, ThreadExit{});
  threads_[ended] = next_thread_++;
}

}  // namespace cairn::testing
