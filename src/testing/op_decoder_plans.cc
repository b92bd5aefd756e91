// The statements that an operation becomes: its own, and before it what the rules of streams
// demand. A plan ends at its first statement that fails.
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "testing/op_decoder.h"
#include "testing/op_values.h"

namespace cairn::testing {
namespace {

// Now and then what is asked for cannot be, and must be refused whole.
bool is_impossible(const Op& op) { return op.variant >= impossible; }

double said_fraction(const Op& op) { return fraction_of(op) + (is_impossible(op) ? 1.5 : 0); }

Bytes impossible_alignment(const Op& op) {
  return Bytes{op.variant % 2 == 0 ? 3 : std::uint64_t{4} << 20};
}

std::string said_settings(const Op& op, Dice& dice) {
  std::string settings = new_settings(dice);
  if (is_impossible(op))
    settings += impossible_settings.at(op.variant % impossible_settings.size());
  return settings;
}

}  // namespace

void OpDecoder::begin(const Op& op) {
  op_ = op;
  plan_.clear();
  next_ = 0;
  dice_ = Dice(op.luck);
  switch (op.kind) {
    case OpKind::alloc:
      return state_.live().size() < most_live_ ? plan_alloc() : plan_free();
    case OpKind::free:
      return plan_free();
    case OpKind::launch:
      return plan_launch();
    case OpKind::use:
      return plan_use();
    case OpKind::order:
      return plan_order();
    case OpKind::sync:
      return plan_sync();
    case OpKind::advance:
      return say(anyone(), Advance{ticks_of(op)});
    case OpKind::bad_free:
      return plan_bad_free();
    case OpKind::poll:
      return say({thread(), device()}, Poll{});
    case OpKind::empty_cache:
      return say(anyone(), EmptyCache{});
    case OpKind::fault:
      return say({}, fault_of(op, is_on(setup_switch::lost_devices)));
    case OpKind::make_stream:
      return plan_make_stream();
    case OpKind::destroy_stream:
      return plan_destroy_stream();
    case OpKind::memory_fraction:
      return say(anyone(), MemoryFraction{said_fraction(op), device()});
    case OpKind::reconfigure:
      return say(anyone(), Reconfigure{said_settings(op, dice_)});
    case OpKind::set_device:
      return say(anyone(), SetDevice{device()});
    case OpKind::thread_exit:
      return plan_thread_exit();
    case OpKind::reset:
      return say({}, Reset{op.variant % 2 == 0 ? ResetWhat::peak : ResetWhat::accumulated});
  }
}

void OpDecoder::plan_alloc() {
  Alloc made;
  made.name = next_block();
  made.size = size_of(op_.amount);
  made.align = is_impossible(op_) ? impossible_alignment(op_) : alignment_of(op_);
  StreamPlace on = place();
  const KnownStream* dead = pick_stream(KnownStream::Life::unannounced, op_.stream);
  if (dead != nullptr && op_.variant % 8 == 7) on = dead->place;
  made.stream = on.name;
  Speaker speaker = *speaker_of({on});
  speaker.device = on.device;
  if (lets_others_in_ && is_on(setup_switch::release_lock) && op_.other >= 0xc0)
    plan_others(speaker.thread);
  say(speaker, made);
}

// What another thread does while the driver is asked, if it is.
void OpDecoder::plan_others(int allocates) {
  const auto other = std::ranges::find_if(
      threads_, [&](int each) { return each != allocates && each != 0; });  // By its T, that is.
  if (other == threads_.end()) return;
  const std::vector<Statement> before = std::exchange(plan_, {});
  for (std::uint64_t i = 0, count = 1 + dice_.below(3); i < count; ++i) plan_within(*other);
  During during{DriverCall::malloc, 1, std::exchange(plan_, before)};
  if (!during.body.empty()) say({allocates, {}}, std::move(during));
}

// Only what is right whatever the statements before it came to.
void OpDecoder::plan_within(int thread) {
  const Speaker speaker{thread, device()};
  switch (dice_.below(8)) {
    case 0:
    case 1:
    case 2: {
      if (state_.live().size() + 4 > most_live_) return;
      Alloc made;
      made.name = next_block();
      made.size = dice_.one_in(2) ? size_of(op_.amount) : Bytes{1 + dice_.below(30 << 20)};
      made.stream = dice_.pick(places(device(), thread)).name;
      return say(speaker, made);
    }
    case 3:
    case 4: {
      if (state_.live().empty()) return;
      const KnownBlock& freed = dice_.pick(state_.live());
      const Operation free = Free{NamedTarget{freed.name, {}}, {}, {}, {}};
      const bool is_freed_already =
          std::ranges::find(plan_, free, &Statement::operation) != plan_.end();
      return state_.owed(freed).empty() && !is_freed_already ? say(speaker, free) : void();
    }
    case 5:
      return say(speaker, Poll{});
    case 6:
      return say(speaker, EmptyCache{});
    default:
      return dice_.one_in(2) ? say(speaker, MemoryFraction{said_fraction(op_), device()})
                             : say(speaker, Reconfigure{new_settings(dice_)});
  }
}

bool OpDecoder::settle(const KnownBlock& block, const StreamPlace& place,
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

void OpDecoder::plan_free() {
  if (state_.live().empty()) return plan_alloc();
  const KnownBlock& freed = block();
  const int way = op_.variant % 8;
  std::optional<StreamPlace> on;
  if (way == 1 || way == 2) on = place(op_.other, way == 1 ? freed.device : device());
  for (const StreamPlace& user : state_.owed(freed)) {
    if (on == user) continue;
    if (!settle(freed, user, on)) return;
  }
  Free given;
  given.target = NamedTarget{freed.name, {}};
  Speaker speaker = on ? *speaker_of({*on}) : anyone();
  const bool can_be_checked = !on && state_.is_alive(freed.own);  // It names the block's stream.
  if (on) given.on = on->name;
  if (can_be_checked && (way == 3 || way == 5)) given.size = freed.size;
  if (can_be_checked && (way == 4 || way == 5)) {
    given.stream = freed.own.name;
    speaker = *speaker_of({freed.own});
  }
  say(speaker, given);
}

bool OpDecoder::make_ready(const KnownBlock& block, const StreamPlace& place) {
  if (state_.may_touch(place, block)) return true;
  if (block.is_untouchable) return false;
  if (!dice_.one_in(20) && say_order(block.own, place)) return true;
  if (!dice_.one_in(4)) return false;
  say_sync(block.own);
  return true;
}

// Of the variant: bit 0, on the first block's own stream; bits 1 and 2, how many more blocks, but 3
// is none; bit 3, the first is only read.
void OpDecoder::plan_launch() {
  if (state_.live().empty()) return plan_alloc();
  const KnownBlock& first = block();
  const bool takes_own = (op_.variant & 1) != 0 && state_.is_alive(first.own);
  const bool is_remote = op_.device >= 0xe0;
  const StreamPlace on =
      takes_own ? first.own : place(op_.stream, is_remote ? device() : first.device);
  Launch kernel;
  for (int i = 0, wanted = 1 + (op_.variant >> 1 & 3) % 3; i < wanted; ++i) {
    const KnownBlock& touched = i == 0 ? first : dice_.pick(state_.live());
    const auto is_this = [&](const Touch& touch) { return touch.name == touched.name; };
    if (std::ranges::any_of(kernel.touches, is_this)) continue;
    const bool only_reads = i == 0 ? (op_.variant & 8) != 0 : dice_.one_in(4);
    if (make_ready(touched, on)) kernel.touches.push_back({touched.name, only_reads});
  }
  if (kernel.touches.empty()) return;
  kernel.stream = on.name;
  kernel.ticks = ticks_of(op_);
  say(*speaker_of({on}), kernel);
}

void OpDecoder::plan_use() {
  const bool is_bad = state_.live().empty() || op_.variant % 16 == 15;
  if (is_bad && state_.freed().empty()) return plan_alloc();
  const StreamPlace by = place();
  say(*speaker_of({by}), Use{is_bad ? freed() : block().name, by.name});
}

void OpDecoder::plan_order() {
  const DeviceIndex next = static_cast<DeviceIndex>((op_.device + 1) % devices_);
  const StreamPlace before = place();
  StreamPlace after = place(op_.other, op_.variant % 4 == 3 ? next : device());
  if (after == before) after = place(static_cast<std::uint8_t>(op_.other + 1), after.device);
  say_order(before, after);
}

void OpDecoder::plan_sync() {
  const StreamPlace awaited = place();
  if (op_.variant % 4 != 3) return say_sync(awaited);
  say(anyone(), Sync{{}, awaited.device});
}

// Freed already, inside a block, in no memory, or checked with what it is not.
void OpDecoder::plan_bad_free() {
  Free given;
  given.target = Address{0x1234};
  const bool has_live = !state_.live().empty();
  switch (op_.variant % 8) {
    case 0:
      given.target = NullTarget{};
      break;
    case 1:
    case 2:
    case 3:
      if (state_.freed().empty()) break;
      given.target = NamedTarget{freed(), {}};
      if (op_.variant % 8 == 1) given.on = place(op_.other, device()).name;
      break;
    case 4:
      if (!has_live || block().size.count < 2) break;
      given.target = NamedTarget{block().name, Bytes{1 + op_.amount % (block().size.count - 1)}};
      break;
    case 5:
      if (!has_live || !state_.is_alive(block().own)) break;
      given.target = NamedTarget{block().name, {}};
      given.size = block().size + Bytes{1};
      break;
    case 6:
      if (!has_live) break;
      given.target = NamedTarget{block().name, {}};
      given.stream = "other";
      break;
    default:
      break;
  }
  say(anyone(), given);
}

// Where an unannounced end is followed by a stream of the same handle, both are one stream to the
// allocator; so nothing of the first may be left when the second begins. With stream_identity:id
// they are two.
void OpDecoder::plan_make_stream() {
  using Life = KnownStream::Life;
  if (count_streams() >= most_streams_) return plan_destroy_stream();
  MakeStream made = new_stream(device(), (op_.variant & 1) != 0);
  // A lost device is not asked: the stream that was known last under the handle is taken for it.
  const bool has_identity = is_on(setup_switch::identity);
  const bool is_confused = has_identity && is_on(setup_switch::lost_devices);
  const bool takes_announced = is_confused || (op_.variant & 2) != 0;
  const KnownStream* dead =
      pick_stream(takes_announced ? Life::announced : Life::unannounced, op_.stream);
  if (dead == nullptr || (op_.variant & 4) != 0) return say(anyone(), made);
  made.reuse = dead->place.name;
  made.gpu = dead->place.device;
  const bool is_taken_for_one = dead->life == Life::unannounced && !has_identity;
  for (DeviceIndex each = 0; is_taken_for_one && each < devices_; ++each) say({}, Sync{{}, each});
  say(anyone(), made);
}

void OpDecoder::plan_destroy_stream() {
  const KnownStream* stream = pick_stream(KnownStream::Life::ending, op_.stream);
  if (stream == nullptr) stream = pick_stream(KnownStream::Life::alive, op_.stream);
  if (stream == nullptr) return plan_make_stream();
  say(anyone(), DestroyStream{stream->place.name, op_.variant % 4 == 3});
}

void OpDecoder::plan_thread_exit() {
  if (threads_.size() < 2 || next_thread_ > highest_thread) return;
  const std::size_t ended = 1 + op_.thread % (threads_.size() - 1);
  say({threads_[ended], {}}, ThreadExit{});
  threads_[ended] = next_thread_++;
}

}  // namespace cairn::testing
