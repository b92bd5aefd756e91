#include "testing/op_draws.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t kib = std::uint64_t{1} << 10;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// Where a formula of the size policy changes.
constexpr std::array<std::uint64_t, 16> borders{
    1,       512,     kib,      2 * kib,  64 * kib, 512 * kib, mib,      3 * mib / 2,
    2 * mib, 9 * mib, 10 * mib, 18 * mib, 19 * mib, 20 * mib,  21 * mib, 40 * mib};
constexpr std::array<std::uint64_t, 10> impossible{std::uint64_t{1} << 31,
                                                   (std::uint64_t{17} << 30) + 1,
                                                   (std::uint64_t{33} << 30) + 1,
                                                   std::uint64_t{1} << 32,
                                                   (std::uint64_t{1} << 60) - 1,
                                                   std::uint64_t{1} << 60,
                                                   ~std::uint64_t{0},
                                                   ~std::uint64_t{0} - 511,
                                                   (std::uint64_t{1} << 31) - 1,
                                                   (std::uint64_t{1} << 32) - 511};

// Kinds that a seed always has, by weight; and those that it has now and then, and then as often.
struct Habit {
  std::uint64_t weight;
  std::uint64_t one_seed_in = 1;
};
constexpr std::array<Habit, op_kind_count> habits{{
    {40},    // alloc
    {34},    // free
    {30},    // launch
    {6},     // use
    {5},     // order
    {2},     // sync
    {2},     // advance
    {3},     // bad_free
    {3},     // poll
    {4, 2},  // empty_cache
    {8, 4},  // fault
    {4, 2},  // make_stream
    {4, 2},  // destroy_stream
    {6, 3},  // memory_fraction
    {6, 3},  // reconfigure
    {4, 2},  // set_device
    {6, 3},  // thread_exit
    {6, 3},  // reset
}};

}  // namespace

OpDraws::OpDraws(std::uint64_t seed)
    : dice_(seed),
      is_oversize_(dice_.one_in(4)),
      largest_exponent_(10 + dice_.below(17)),
      lifetimes_(static_cast<Lifetimes>(dice_.below(4))) {
  for (std::size_t kind = 0; kind < weights_.size(); ++kind) {
    const Habit& habit = habits.at(kind);
    if (dice_.one_in(habit.one_seed_in)) weights_[kind] = habit.weight * (1 + dice_.below(4));
  }
  for (std::uint8_t* field :
       {&setup_.devices, &setup_.streams, &setup_.threads, &setup_.places, &setup_.blocking,
        &setup_.stream_devices, &setup_.split, &setup_.divisions, &setup_.segment})
    *field = draw_byte();
  if (weights_[static_cast<std::size_t>(OpKind::thread_exit)] != 0) setup_.threads |= 1;
  setup_.most_live = static_cast<std::uint8_t>(4 + dice_.below(dice_.one_in(3) ? 60 : 13));
  for (std::uint8_t& memory : setup_.memory) {
    const std::uint64_t exponent = is_oversize_ ? 2 + dice_.below(3) : dice_.below(6);
    memory = static_cast<std::uint8_t>(exponent + 8 * dice_.below(8));
  }
  if (is_oversize_) setup_.split = static_cast<std::uint8_t>(1 + dice_.below(4));
  if (!is_oversize_ && dice_.one_in(2)) setup_.split = 0;
  if (dice_.one_in(2)) setup_.divisions = 0;
  if (!dice_.one_in(4)) setup_.segment = 0;
  if (dice_.one_in(4)) setup_.rounding = draw_byte();
  if (dice_.one_in(4)) setup_.large_segment = draw_byte();
  const auto switch_on = [&](std::uint8_t bit, bool is_on) { setup_.switches |= is_on ? bit : 0; };
  switch_on(setup_switch::tie_by_address, dice_.one_in(2));
  switch_on(setup_switch::release_lock, dice_.one_in(4));
  switch_on(setup_switch::identity, dice_.one_in(5));
  switch_on(setup_switch::lost_devices, dice_.one_in(8));
  switch_on(setup_switch::default_streams, !dice_.one_in(3));
  Dice apart(~seed);  // So that a seed is what it was before there was this setting.
  switch_on(setup_switch::pytorch_defects, apart.one_in(6));
  if (!dice_.one_in(2)) return;  // No limits.
  setup_.threshold = static_cast<std::uint8_t>(1 + dice_.below(4));
  setup_.fraction = static_cast<std::uint8_t>(1 + dice_.below(4));
  switch_on(setup_switch::rejects, dice_.one_in(3));
}

OpKind OpDraws::draw_kind() {
  std::uint64_t total = 0;
  for (const std::uint64_t weight : weights_) total += weight;
  std::uint64_t drawn = dice_.below(total);
  std::size_t kind = 0;
  for (; drawn >= weights_[kind]; ++kind) drawn -= weights_[kind];
  return static_cast<OpKind>(kind);
}

Bytes OpDraws::draw_size() {
  if (is_oversize_ && dice_.one_in(3))
    return Bytes{(19 + dice_.below(26)) * mib - 511 + dice_.below(512)};
  if (dice_.one_in(200)) return Bytes{dice_.pick(impossible)};
  if (dice_.one_in(3)) {
    const std::uint64_t border = dice_.pick(borders);
    const std::uint64_t distance = dice_.one_in(2) ? dice_.below(3) : 511 + dice_.below(3);
    return Bytes{dice_.one_in(2) || border < distance ? border + distance : border - distance};
  }
  return Bytes{1 + dice_.below(std::uint64_t{1} << dice_.below(largest_exponent_))};
}

std::uint16_t OpDraws::draw_block() {
  const auto drawn = static_cast<std::uint16_t>(dice_.draw());
  switch (lifetimes_) {
    case Lifetimes::any:
      break;
    case Lifetimes::latest_first:
      return drawn | 0xc000;
    case Lifetimes::oldest_first:
      return drawn & 0x3fff;
    case Lifetimes::some_stay:
      return drawn | 0x8000;
  }
  return drawn;
}

std::uint8_t OpDraws::draw_device() { return dice_.one_in(2) ? 0 : draw_byte(); }

Op OpDraws::next() {
  Op op;
  op.kind = draw_kind();
  op.thread = draw_byte();
  op.device = draw_device();
  op.stream = draw_byte();
  op.other = draw_byte();
  op.variant = draw_byte();
  op.block = draw_block();
  op.amount = static_cast<std::uint32_t>(dice_.draw());
  op.luck = static_cast<std::uint32_t>(dice_.draw());
  switch (op.kind) {
    case OpKind::alloc:
      op.amount = size_code(draw_size());
      if (!dice_.one_in(5)) op.variant = 0;
      break;
    case OpKind::free:
      if (!dice_.one_in(3)) op.variant = 0;
      break;
    case OpKind::memory_fraction:
      if (dice_.one_in(4)) op.amount = 100;
      break;
    default:
      break;
  }
  return op;
}

Tape draw_tape(std::uint64_t seed, std::size_t operations) {
  OpDraws draws(seed);
  Tape tape{draws.setup(), {}};
  tape.ops.reserve(operations);
  while (tape.ops.size() < operations) tape.ops.push_back(draws.next());
  return tape;
}

}  // namespace cairn::testing
