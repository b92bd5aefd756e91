#include "fuzz/tape_mutator.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "testing/op_draws.h"

// There where libFuzzer is linked.
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                                              std::size_t most_bytes);

namespace cairn::fuzz {
namespace {

using testing::Dice;
using testing::Op;
using testing::OpDraws;
using testing::OpKind;
using testing::Setup;
using testing::Tape;

constexpr std::size_t longest_range = 64;
constexpr std::size_t longest_tape = 4096;  // Of operations; libFuzzer's limit is less as a rule.

constexpr std::uint64_t kib = std::uint64_t{1} << 10;
constexpr std::uint64_t mib = std::uint64_t{1} << 20;
// Where the size policy changes its formula, or a setting of the setup may move it to.
constexpr std::array<std::uint64_t, 12> borders{512,      kib,      512 * kib, mib,
                                                2 * mib,  10 * mib, 12 * mib,  14 * mib,
                                                20 * mib, 21 * mib, 22 * mib,  40 * mib};

// Edits by weight. Insertions lead, so that tapes grow to where there are many blocks.
constexpr std::array<std::uint64_t, tape_edit_count> weights{8, 4, 3, 3, 2, 6, 3, 3, 2, 1};

using Place = std::vector<Op>::iterator;
using Offset = std::vector<Op>::difference_type;

// ---- ranges ----

// How many of at most so many, short ranges being the more frequent. REQUIRES: most > 0.
std::size_t draw_length(std::size_t most, Dice& dice) {
  const std::size_t limit = std::min(most, dice.one_in(4) ? longest_range : std::size_t{8});
  return 1 + dice.below(limit);
}

// REQUIRES: the tape is not empty.
std::pair<Place, Place> draw_range(Tape& tape, std::size_t most, Dice& dice) {
  const std::size_t length = draw_length(std::min(most, tape.ops.size()), dice);
  const Place begin =
      tape.ops.begin() + static_cast<Offset>(dice.below(tape.ops.size() - length + 1));
  return {begin, begin + static_cast<Offset>(length)};
}

// At the end as often as at all others: what the tape came to is where new things happen.
Place draw_place(Tape& tape, Dice& dice) {
  if (dice.one_in(2)) return tape.ops.end();
  return tape.ops.begin() + static_cast<Offset>(dice.below(tape.ops.size() + 1));
}

std::size_t room_in(const Tape& tape, std::size_t most_ops) {
  return most_ops - std::min(most_ops, tape.ops.size());
}

bool insert(Tape& tape, std::size_t room, Dice& dice) {
  if (room == 0) return false;
  OpDraws draws(dice.draw());
  const bool is_first = tape.ops.empty();
  if (is_first) tape.setup = draws.setup();
  std::vector<Op> drawn(is_first ? 1 + dice.below(room) : draw_length(room, dice));
  std::ranges::generate(drawn, [&] { return draws.next(); });
  tape.ops.insert(draw_place(tape, dice), drawn.begin(), drawn.end());
  return true;
}

bool erase(Tape& tape, Dice& dice) {
  if (tape.ops.empty()) return false;
  const auto [begin, end] = draw_range(tape, longest_range, dice);
  tape.ops.erase(begin, end);
  return true;
}

bool duplicate(Tape& tape, std::size_t room, Dice& dice) {
  if (tape.ops.empty() || room == 0) return false;
  const auto [begin, end] = draw_range(tape, room, dice);
  const std::vector<Op> copy(begin, end);
  tape.ops.insert(draw_place(tape, dice), copy.begin(), copy.end());
  return true;
}

bool move(Tape& tape, Dice& dice) {
  if (tape.ops.size() < 2) return false;
  const auto [begin, end] = draw_range(tape, tape.ops.size() - 1, dice);
  const std::vector<Op> moved(begin, end);
  tape.ops.erase(begin, end);
  tape.ops.insert(draw_place(tape, dice), moved.begin(), moved.end());
  return true;
}

bool swap(Tape& tape, Dice& dice) {
  if (tape.ops.size() < 2) return false;
  const std::size_t first = dice.below(tape.ops.size());
  const std::size_t second = dice.below(tape.ops.size() - 1);
  std::swap(tape.ops[first], tape.ops[second < first ? second : second + 1]);
  return true;
}

bool burst(Tape& tape, std::size_t room, Dice& dice) {
  if (tape.ops.empty() || room == 0) return false;
  std::vector<Op> many(1 + dice.below(std::min(room, longest_range)), dice.pick(tape.ops));
  for (Op& op : many) {
    op.block = static_cast<std::uint16_t>(dice.draw());
    op.luck = static_cast<std::uint32_t>(dice.draw());
  }
  tape.ops.insert(draw_place(tape, dice), many.begin(), many.end());
  return true;
}

// ---- fields ----

// Another value: any, one that is near, or one bit away.
template <class Field>
void change(Field& field, Dice& dice) {
  constexpr std::size_t bits = 8 * sizeof(Field);
  const std::uint64_t bit = std::uint64_t{1} << dice.below(bits);
  const std::array<std::uint64_t, 5> values{field + (dice.draw() | 1), field + std::uint64_t{1},
                                            field - std::uint64_t{1}, field ^ bit, field + bit};
  field = static_cast<Field>(dice.pick(values));
}

bool change_field(Tape& tape, Dice& dice) {
  if (tape.ops.empty()) return false;
  Op& op = tape.ops[dice.below(tape.ops.size())];
  switch (dice.below(9)) {
    case 0:
      op.kind = static_cast<OpKind>(dice.below(testing::op_kind_count));
      break;
    case 1:
      change(op.thread, dice);
      break;
    case 2:
      change(op.device, dice);
      break;
    case 3:
      change(op.stream, dice);
      break;
    case 4:
      change(op.other, dice);
      break;
    case 5:
      change(op.variant, dice);
      break;
    case 6:
      change(op.block, dice);
      break;
    case 7:
      change(op.amount, dice);
      break;
    default:
      change(op.luck, dice);
  }
  return true;
}

bool change_size(Tape& tape, Dice& dice) {
  const auto is_alloc = [](const Op& op) { return op.kind == OpKind::alloc; };
  const auto count = static_cast<std::uint64_t>(std::ranges::count_if(tape.ops, is_alloc));
  if (count == 0) return false;
  std::uint64_t nth = dice.below(count);
  const auto chosen =
      std::ranges::find_if(tape.ops, [&](const Op& op) { return is_alloc(op) && nth-- == 0; });
  const std::array<std::uint64_t, 5> steps{0, 1, 511, 512, kib << dice.below(12)};
  const std::uint64_t from =
      dice.one_in(2) ? dice.pick(borders) : testing::size_of(chosen->amount).count;
  const std::uint64_t step = dice.pick(steps);
  chosen->amount = testing::size_code(Bytes{dice.one_in(2) ? from + step : from - step});
  return true;
}

bool change_setup(Tape& tape, Dice& dice) {
  if (dice.one_in(4)) {
    tape.setup = OpDraws(dice.draw()).setup();
    return true;
  }
  constexpr std::size_t used = testing::setup_bytes - sizeof(Setup::unused);
  std::array<std::uint8_t, testing::setup_bytes> bytes{};
  std::memcpy(bytes.data(), &tape.setup, bytes.size());
  change(bytes.at(dice.below(used)), dice);
  std::memcpy(&tape.setup, bytes.data(), bytes.size());
  return true;
}

bool change_bytes(Tape& tape, std::size_t room) {
  if (LLVMFuzzerMutate == nullptr) return false;
  std::vector<std::uint8_t> bytes = testing::bytes_of(tape);
  const std::size_t size = bytes.size();
  bytes.resize(size + testing::op_bytes * std::min(room, longest_range));
  bytes.resize(LLVMFuzzerMutate(bytes.data(), size, bytes.size()));
  tape = testing::tape_of(bytes);
  return true;
}

// ---- bytes ----

std::size_t most_ops_in(std::size_t bytes) {
  const std::size_t fits = (bytes - std::min(bytes, testing::setup_bytes)) / testing::op_bytes;
  return std::min(fits, longest_tape);
}

// As much of the tape as there is room for: where the setup itself does not fit, its beginning.
std::size_t write(const Tape& tape, std::span<std::uint8_t> out) {
  const std::vector<std::uint8_t> bytes = testing::bytes_of(tape);
  const std::size_t size = std::min(bytes.size(), out.size());
  std::copy_n(bytes.begin(), size, out.begin());
  return size;
}

TapeEdit draw_edit(Dice& dice) {
  std::uint64_t total = 0;
  for (const std::uint64_t weight : weights) total += weight;
  std::uint64_t drawn = dice.below(total);
  std::size_t kind = 0;
  for (; drawn >= weights.at(kind); ++kind) drawn -= weights.at(kind);
  return static_cast<TapeEdit>(kind);
}

}  // namespace

bool edit(Tape& tape, TapeEdit kind, std::size_t most_ops, Dice& dice) {
  const std::size_t room = room_in(tape, most_ops);
  switch (kind) {
    case TapeEdit::insert:
      return insert(tape, room, dice);
    case TapeEdit::erase:
      return erase(tape, dice);
    case TapeEdit::duplicate:
      return duplicate(tape, room, dice);
    case TapeEdit::move:
      return move(tape, dice);
    case TapeEdit::swap:
      return swap(tape, dice);
    case TapeEdit::change_field:
      return change_field(tape, dice);
    case TapeEdit::change_size:
      return change_size(tape, dice);
    case TapeEdit::burst:
      return burst(tape, room, dice);
    case TapeEdit::change_setup:
      return change_setup(tape, dice);
    case TapeEdit::bytes:
      return change_bytes(tape, room);
  }
  return false;
}

std::size_t mutate_tape(std::uint8_t* data, std::size_t size, std::size_t most_bytes,
                        unsigned seed) {
  Dice dice(seed);
  Tape tape = testing::tape_of(std::span(data, size));
  const std::size_t most_ops = most_ops_in(most_bytes);
  tape.ops.resize(std::min(tape.ops.size(), most_ops));
  for (std::uint64_t edits = 1 + dice.below(4); edits > 0; --edits) {
    while (!edit(tape, draw_edit(dice), most_ops, dice)) {
    }
  }
  return write(tape, std::span(data, most_bytes));
}

std::size_t cross_tapes(std::span<const std::uint8_t> first, std::span<const std::uint8_t> second,
                        std::span<std::uint8_t> out, unsigned seed) {
  Dice dice(seed);
  Tape tape = testing::tape_of(first);
  const Tape other = testing::tape_of(second);
  if (dice.one_in(2)) tape.setup = other.setup;
  tape.ops.resize(dice.below(tape.ops.size() + 1));
  const auto from = static_cast<Offset>(dice.below(other.ops.size() + 1));
  tape.ops.insert(tape.ops.end(), other.ops.begin() + from, other.ops.end());
  tape.ops.resize(std::min(tape.ops.size(), most_ops_in(out.size())));
  return write(tape, out);
}

}  // namespace cairn::fuzz
