#include "fuzz/tape_mutator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "testing/op_draws.h"

// In place of libFuzzer's own mutator: turns all bits of the last byte, and takes half of the room.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size,
                                        std::size_t most_bytes) {
  data[size - 1] ^= 0xff;
  return size + (most_bytes - size) / 2;
}

namespace cairn::fuzz {
namespace {

using testing::bytes_of;
using testing::Dice;
using testing::draw_tape;
using testing::Op;
using testing::op_bytes;
using testing::op_kind_count;
using testing::OpKind;
using testing::setup_bytes;
using testing::Tape;
using testing::tape_of;

using ByteVector = std::vector<std::uint8_t>;

constexpr unsigned many_seeds = 2000;

std::array<TapeEdit, tape_edit_count> all_edits() {
  std::array<TapeEdit, tape_edit_count> edits{};
  for (std::size_t i = 0; i < edits.size(); ++i) edits.at(i) = static_cast<TapeEdit>(i);
  return edits;
}

ByteVector mutated(const ByteVector& from, std::size_t most_bytes, unsigned seed) {
  ByteVector bytes = from;
  bytes.resize(std::max(most_bytes, from.size()));
  bytes.resize(mutate_tape(bytes.data(), from.size(), most_bytes, seed));
  return bytes;
}

ByteVector crossed(const ByteVector& first, const ByteVector& second, std::size_t most_bytes,
                   unsigned seed) {
  ByteVector out(most_bytes);
  out.resize(cross_tapes(first, second, out, seed));
  return out;
}

bool is_whole(const ByteVector& bytes) {
  return bytes.size() >= setup_bytes && bytes_of(tape_of(bytes)) == bytes;
}

TEST(TapeMutator, EachEditChangesATapeAndKeepsItWithinItsLimit) {
  for (const TapeEdit kind : all_edits()) {
    SCOPED_TRACE(static_cast<int>(kind));
    Dice dice(1);
    int changed = 0;
    for (unsigned seed = 0; seed < 100; ++seed) {
      const Tape before = draw_tape(seed, 60);
      Tape after = before;
      ASSERT_TRUE(edit(after, kind, 64, dice));
      ASSERT_LE(after.ops.size(), 64u);
      if (after != before) ++changed;
    }
    EXPECT_GE(changed, 80);
  }
}

TEST(TapeMutator, EditsThatOnlyMoveOperationsLoseNone) {
  const auto sorted = [](std::vector<Op> ops) {
    std::ranges::sort(ops, {}, &Op::luck);
    return ops;
  };
  Dice dice(2);
  for (const TapeEdit kind : {TapeEdit::move, TapeEdit::swap}) {
    Tape tape = draw_tape(3, 30);
    const auto before = sorted(tape.ops);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(edit(tape, kind, 30, dice));
    EXPECT_EQ(sorted(tape.ops), before);
  }
}

TEST(TapeMutator, ABurstRepeatsOneOperation) {
  Dice dice(4);
  std::size_t longest = 0;
  for (int i = 0; i < 50; ++i) {
    Tape tape = draw_tape(5, 1);
    ASSERT_TRUE(edit(tape, TapeEdit::burst, 100, dice));
    longest = std::max(longest, tape.ops.size());
    for (const Op& op : tape.ops) {
      EXPECT_EQ(op.kind, tape.ops.front().kind);
      EXPECT_EQ(op.amount, tape.ops.front().amount);
    }
  }
  EXPECT_GE(longest, 40u);
}

TEST(TapeMutator, SizesComeToBordersAndBesideThem) {
  Dice dice(6);
  Tape tape = draw_tape(7, 0);
  Op alloc;
  alloc.amount = testing::size_code(Bytes{12345});
  tape.ops = {alloc};
  std::vector<std::uint64_t> sizes;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(edit(tape, TapeEdit::change_size, 1, dice));
    sizes.push_back(testing::size_of(tape.ops[0].amount).count);
  }
  constexpr std::uint64_t mib = 1 << 20;
  for (const std::uint64_t size : {mib, mib + 1, mib - 1, 20 * mib, 20 * mib - 512})
    EXPECT_NE(std::ranges::find(sizes, size), sizes.end()) << size;
}

TEST(TapeMutator, WhatDoesNotApplyChangesNothing) {
  Dice dice(8);
  for (const TapeEdit kind : {TapeEdit::erase, TapeEdit::duplicate, TapeEdit::move, TapeEdit::swap,
                              TapeEdit::change_field, TapeEdit::change_size, TapeEdit::burst}) {
    Tape empty;
    EXPECT_FALSE(edit(empty, kind, 10, dice)) << static_cast<int>(kind);
    EXPECT_EQ(empty, Tape{});
  }
  for (const TapeEdit kind : {TapeEdit::insert, TapeEdit::duplicate, TapeEdit::burst}) {
    Tape full = draw_tape(9, 10);
    EXPECT_FALSE(edit(full, kind, 10, dice)) << static_cast<int>(kind);
    EXPECT_EQ(full, draw_tape(9, 10));
  }
}

TEST(TapeMutator, MutationsOfAnyBytesAreWholeTapesWithinTheLimit) {
  for (unsigned seed = 0; seed < many_seeds; ++seed) {
    ByteVector bytes = bytes_of(draw_tape(seed, seed % 40));
    bytes.resize(bytes.size() - seed % 30 % bytes.size());
    const std::size_t limit = setup_bytes + seed % 500;
    const ByteVector after = mutated(bytes, limit, seed);
    ASSERT_LE(after.size(), limit) << seed;
    ASSERT_TRUE(is_whole(after)) << seed;
  }
}

TEST(TapeMutator, TheSameSeedGivesTheSameMutation) {
  const ByteVector bytes = bytes_of(draw_tape(10, 20));
  const ByteVector other = bytes_of(draw_tape(11, 20));
  int alike = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    ASSERT_EQ(mutated(bytes, 1000, seed), mutated(bytes, 1000, seed));
    ASSERT_EQ(crossed(bytes, other, 1000, seed), crossed(bytes, other, 1000, seed));
    if (mutated(bytes, 1000, seed) == mutated(bytes, 1000, seed + 1)) ++alike;
  }
  EXPECT_LE(alike, 2);
}

TEST(TapeMutator, FromNothingComeTapesOfAllKindsOfOperations) {
  std::array<int, op_kind_count> drawn{};
  for (unsigned seed = 0; seed < many_seeds; ++seed) {
    ByteVector bytes(1000);
    bytes.resize(mutate_tape(bytes.data(), 0, bytes.size(), seed));
    ASSERT_TRUE(is_whole(bytes));
    for (const Op& op : tape_of(bytes).ops) ++drawn.at(static_cast<std::size_t>(op.kind));
  }
  for (const int count : drawn) EXPECT_GE(count, 20);
}

TEST(TapeMutator, SomethingIsLeftHoweverSmallTheLimit) {
  EXPECT_EQ(mutate_tape(nullptr, 0, 0, 1), 0u);
  EXPECT_EQ(cross_tapes({}, {}, {}, 1), 0u);
  for (std::size_t limit = 1; limit < setup_bytes + op_bytes; ++limit) {
    const std::size_t expected = std::min(limit, setup_bytes);
    EXPECT_EQ(mutated(bytes_of(draw_tape(12, 3)), limit, 12).size(), expected);
    EXPECT_EQ(crossed({}, {}, limit, 12).size(), expected);
  }
}

TEST(TapeMutator, ACrossingIsABeginningAndAnEnd) {
  const Tape first = draw_tape(13, 12);
  const Tape second = draw_tape(14, 15);
  std::array<int, 2> setups{};
  for (unsigned seed = 0; seed < 200; ++seed) {
    const Tape made = tape_of(crossed(bytes_of(first), bytes_of(second), 4096, seed));
    const auto [own, none] = std::ranges::mismatch(made.ops, first.ops);
    const auto rest = static_cast<std::size_t>(made.ops.end() - own);
    ASSERT_LE(rest, second.ops.size());
    EXPECT_TRUE(std::equal(own, made.ops.end(), second.ops.end() - static_cast<long>(rest)));
    ASSERT_TRUE(made.setup == first.setup || made.setup == second.setup);
    ++setups.at(made.setup == first.setup ? 0 : 1);
  }
  EXPECT_GE(setups[0], 50);
  EXPECT_GE(setups[1], 50);
}

}  // namespace
}  // namespace cairn::fuzz
