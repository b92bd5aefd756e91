#include "tapes.h"

#include <cstring>
#include <numeric>
#include <ostream>
#include <vector>

#include "testing/dice.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t kib = std::uint64_t{1} << 10;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

// Where a rule of the size policy changes.
constexpr std::array<std::uint64_t, 12> borders{512,      kib,      2 * kib,  64 * kib,
                                                mib,      2 * mib,  10 * mib, 12 * mib,
                                                19 * mib, 20 * mib, 21 * mib, 40 * mib};

// Of each kind: how often, and whether in every case.
struct Habit {
  int weight;
  bool always;
};
constexpr std::array<Habit, op_kind_count> habits{{{40, true},    // alloc
                                                   {32, true},    // free
                                                   {24, true},    // launch
                                                   {6, true},     // use
                                                   {4, false},    // order
                                                   {2, false},    // sync
                                                   {2, true},     // advance
                                                   {3, false},    // bad_free
                                                   {3, false},    // poll
                                                   {3, false},    // empty_cache
                                                   {4, false},    // fault
                                                   {3, false},    // make_stream
                                                   {3, false},    // destroy_stream
                                                   {4, false},    // memory_fraction
                                                   {4, false},    // reconfigure
                                                   {3, false},    // set_device
                                                   {3, false},    // thread_exit
                                                   {3, false}}};  // reset

// At every size, from the first case on.
template <class Value>
Value draw(const rc::Gen<Value>& gen) {
  return *rc::gen::resize(rc::kNominalSize, gen);
}
int draw_below(int limit) { return draw(rc::gen::inRange(0, limit)); }
bool draw_one_in(int n) { return draw_below(n) == 0; }
std::uint8_t draw_byte() { return static_cast<std::uint8_t>(draw_below(256)); }

Weights draw_weights(const Taste& taste) {
  Weights weights{};
  for (std::size_t kind = 0; kind < op_kind_count; ++kind) {
    const Habit& habit = habits.at(kind);
    const int more = taste.more.at(kind);
    if (habit.always || more > 0 || draw_one_in(2))
      weights.at(kind) = (habit.weight + more) * (1 + draw_below(4));
  }
  if (!taste.has_faults) weights.at(static_cast<std::size_t>(OpKind::fault)) = 0;
  return weights;
}

Setup draw_setup(const Taste& taste) {
  Setup setup;
  for (std::uint8_t* field :
       {&setup.devices, &setup.streams, &setup.threads, &setup.places, &setup.switches,
        &setup.blocking, &setup.stream_devices, &setup.split, &setup.rounding, &setup.large_segment,
        &setup.divisions, &setup.threshold, &setup.fraction, &setup.segment})
    *field = draw_byte();
  setup.most_live = static_cast<std::uint8_t>(4 + draw_below(draw_one_in(3) ? 40 : 13));
  for (std::uint8_t& memory : setup.memory)
    memory = static_cast<std::uint8_t>(draw_below(taste.is_short ? 2 : 5) + 8 * draw_below(8));
  const int left_out = taste.loses_devices ? 0 : setup_switch::lost_devices;
  setup.switches &= static_cast<std::uint8_t>(~(left_out | setup_switch::pytorch_defects));
  if (!draw_one_in(4)) setup.switches &= static_cast<std::uint8_t>(~setup_switch::identity);
  if (draw_one_in(2)) setup.split = setup.rounding = setup.large_segment = 0;
  if (draw_one_in(2)) setup.divisions = 0;
  if (draw_one_in(2)) setup.threshold = setup.fraction = 0;
  if (!draw_one_in(4)) setup.segment = 0;
  return setup;
}

// Draws the operations of one case.
class Draws {
 public:
  Draws(const Swarm& swarm, std::uint64_t seed) : swarm_(swarm), dice_(seed) {}

  Op next() {
    Op op;
    op.kind = draw_kind();
    op.thread = byte();
    op.device = dice_.one_in(2) ? std::uint8_t{0} : byte();
    op.stream = byte();
    op.other = byte();
    op.variant = byte();
    op.block = draw_block();
    op.amount = static_cast<std::uint32_t>(dice_.draw());
    op.luck = static_cast<std::uint32_t>(dice_.draw());
    if (op.kind == OpKind::alloc) op.amount = size_code(draw_size());
    const bool is_plain = op.kind == OpKind::alloc || op.kind == OpKind::free;
    if (is_plain && !dice_.one_in(static_cast<std::uint64_t>(swarm_.calm))) op.variant = 0;
    if (op.kind == OpKind::memory_fraction && dice_.one_in(3)) op.amount = 100;
    return op;
  }

 private:
  std::uint8_t byte() { return static_cast<std::uint8_t>(dice_.draw()); }

  OpKind draw_kind() {
    const int total = std::accumulate(swarm_.weights.begin(), swarm_.weights.end(), 0);
    int drawn = static_cast<int>(dice_.below(static_cast<std::uint64_t>(total)));
    std::size_t kind = 0;
    for (; drawn >= swarm_.weights.at(kind); ++kind) drawn -= swarm_.weights.at(kind);
    return static_cast<OpKind>(kind);
  }

  Bytes draw_size() {
    if (dice_.one_in(100)) return Bytes{dice_.one_in(2) ? 0 : std::uint64_t{1} << 60};
    switch (swarm_.sizes) {
      case Sizes::tiny:
        return Bytes{1 + dice_.below(4 * kib)};
      case Sizes::borders:
        return Bytes{dice_.pick(borders) + dice_.below(3) - 1};
      case Sizes::mixed:
        return Bytes{1 + dice_.below(std::uint64_t{1} << (9 + dice_.below(17)))};
      case Sizes::large:
        break;
    }
    return Bytes{(1 + dice_.below(44)) * mib - 511 + dice_.below(512)};
  }

  std::uint16_t draw_block() {
    const auto drawn = static_cast<std::uint16_t>(dice_.draw());
    switch (swarm_.lifetimes) {
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

  const Swarm& swarm_;
  Dice dice_;
};

template <class Value>
rc::Gen<Value> any() {
  return rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<Value>());
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Swarm& swarm) {
  out << swarm.operations << " operations, sizes " << static_cast<int>(swarm.sizes)
      << ", lifetimes " << static_cast<int>(swarm.lifetimes) << ", weights";
  for (std::size_t kind = 0; kind < op_kind_count; ++kind) {
    if (swarm.weights.at(kind) == 0) continue;
    out << " " << to_string(static_cast<OpKind>(kind)) << ":" << swarm.weights.at(kind);
  }
  return out;
}

std::ostream& operator<<(std::ostream& out, const Tape& tape) {
  return out << "tape of " << tape.ops.size() << " operations";
}

rc::Gen<Swarm> swarms(const Taste& taste) {
  return rc::gen::noShrink(rc::gen::exec([taste] {
    Swarm swarm;
    swarm.operations = taste.operations;
    swarm.weights = draw_weights(taste);
    swarm.sizes = static_cast<Sizes>(draw_below(4));
    swarm.lifetimes = static_cast<Lifetimes>(draw_below(4));
    swarm.calm = 2 + draw_below(6);
    swarm.setup = draw_setup(taste);
    return swarm;
  }));
}

rc::Gen<Tape> tapes(const Swarm& swarm) {
  return rc::Gen<Tape>([swarm](const rc::Random& random, int) {
    Draws draws(swarm, rc::Random(random).next());
    Tape tape{swarm.setup, {}};
    tape.ops.reserve(swarm.operations);
    while (tape.ops.size() < swarm.operations) tape.ops.push_back(draws.next());
    return rc::shrinkable::just(std::move(tape));
  });
}

rc::Gen<Tape> short_tapes() {
  const auto setup_of = [](const std::vector<std::uint8_t>& bytes) {
    Setup setup;
    std::memcpy(&setup, bytes.data(), sizeof setup);
    constexpr int left_out = setup_switch::lost_devices | setup_switch::pytorch_defects;
    setup.switches &= static_cast<std::uint8_t>(~left_out);
    return setup;
  };
  const auto kinds = rc::gen::weightedElement<OpKind>({{8, OpKind::alloc},
                                                       {8, OpKind::free},
                                                       {6, OpKind::launch},
                                                       {2, OpKind::use},
                                                       {1, OpKind::sync},
                                                       {1, OpKind::advance},
                                                       {1, OpKind::poll},
                                                       {1, OpKind::empty_cache},
                                                       {1, OpKind::fault},
                                                       {1, OpKind::destroy_stream},
                                                       {1, OpKind::reconfigure}});
  const auto sizes =
      rc::gen::map(rc::gen::resize(rc::kNominalSize, rc::gen::inRange<std::uint64_t>(1, 24 * mib)),
                   [](std::uint64_t size) { return size_code(Bytes{size}); });
  const auto op = rc::gen::build<Op>(
      rc::gen::set(&Op::kind, kinds), rc::gen::set(&Op::stream, any<std::uint8_t>()),
      rc::gen::set(&Op::other, any<std::uint8_t>()),
      rc::gen::set(&Op::variant,
                   rc::gen::weightedOneOf<std::uint8_t>(
                       {{3, rc::gen::just(std::uint8_t{0})}, {1, any<std::uint8_t>()}})),
      rc::gen::set(&Op::block, any<std::uint16_t>()), rc::gen::set(&Op::amount, sizes),
      rc::gen::set(&Op::luck, any<std::uint32_t>()));
  const auto setup = rc::gen::map(
      rc::gen::container<std::vector<std::uint8_t>>(setup_bytes, any<std::uint8_t>()), setup_of);
  return rc::gen::build<Tape>(
      rc::gen::set(&Tape::setup, setup),
      rc::gen::set(&Tape::ops, rc::gen::resize(40, rc::gen::container<std::vector<Op>>(op))));
}

}  // namespace cairn::testing
