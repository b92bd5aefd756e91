#include "testing/op.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>
#include <string>

#include "testing/dice.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

std::vector<std::uint8_t> counted_bytes(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
  return bytes;
}

bool keeps(std::uint64_t size) { return size_of(size_code(Bytes{size})).count == size; }

TEST(Tape, of_no_bytes_is_the_default_setup_and_no_operation) { EXPECT_EQ(tape_of({}), Tape{}); }

TEST(Tape, of_few_bytes_has_zeros_for_the_others) {
  const Tape tape = tape_of(counted_bytes(3));
  EXPECT_EQ(tape.setup.devices, 1);
  EXPECT_EQ(tape.setup.streams, 3);
  EXPECT_EQ(tape.setup.threads, 0);
  EXPECT_TRUE(tape.ops.empty());
}

TEST(Tape, leaves_out_an_operation_that_is_not_whole) {
  EXPECT_EQ(tape_of(counted_bytes(setup_bytes + op_bytes - 1)).ops.size(), 0U);
  EXPECT_EQ(tape_of(counted_bytes(setup_bytes + op_bytes)).ops.size(), 1U);
  EXPECT_EQ(tape_of(counted_bytes(setup_bytes + 2 * op_bytes - 1)).ops.size(), 1U);
}

TEST(Tape, takes_any_byte_for_a_kind) {
  std::vector<std::uint8_t> bytes(setup_bytes + op_bytes);
  std::set<OpKind> kinds;
  for (int byte = 0; byte < 256; ++byte) {
    bytes[setup_bytes] = static_cast<std::uint8_t>(byte);
    const Tape tape = tape_of(bytes);
    ASSERT_LT(static_cast<std::size_t>(tape.ops.at(0).kind), op_kind_count);
    kinds.insert(tape.ops[0].kind);
  }
  EXPECT_EQ(kinds.size(), op_kind_count);
}

// So a corpus can be kept as files, and mutated as tapes.
TEST(Tape, comes_back_from_its_bytes) {
  Dice dice(1);
  for (const std::size_t count : {0U, 1U, 2U, 50U}) {
    std::vector<std::uint8_t> bytes(setup_bytes + count * op_bytes);
    for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice.draw());
    const Tape tape = tape_of(bytes);
    EXPECT_EQ(tape.ops.size(), count);
    EXPECT_EQ(bytes_of(tape).size(), bytes.size());
    EXPECT_EQ(tape_of(bytes_of(tape)), tape);
  }
}

// The corpus relies on it.
TEST(Tape, keeps_the_fields_in_this_order) {
  std::vector<std::uint8_t> bytes(setup_bytes);
  const std::vector<std::uint8_t> op{2, 3, 4, 5, 6, 7, 9, 8, 13, 12, 11, 10, 17, 16, 15, 14};
  bytes.insert(bytes.end(), op.begin(), op.end());
  Op expected;
  expected.kind = OpKind::launch;
  expected.thread = 3;
  expected.device = 4;
  expected.stream = 5;
  expected.other = 6;
  expected.variant = 7;
  expected.block = 0x0809;
  expected.amount = 0x0a0b0c0d;
  expected.luck = 0x0e0f1011;
  EXPECT_EQ(tape_of(bytes).ops.at(0), expected);
}

TEST(OpKind, has_a_word_of_its_own_each) {
  std::set<std::string_view> words;
  for (std::size_t kind = 0; kind < op_kind_count; ++kind)
    words.insert(to_string(static_cast<OpKind>(kind)));
  EXPECT_EQ(words.size(), op_kind_count);
  EXPECT_EQ(to_string(OpKind::alloc), "alloc");
  EXPECT_EQ(to_string(OpKind::reset), "reset");
}

TEST(SizeCode, is_exact_below_32_mib) {
  Dice dice(1);
  for (std::uint64_t size = 0; size < 5000; ++size) ASSERT_TRUE(keeps(size)) << size;
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t size = dice.below(32 * mib);
    ASSERT_TRUE(keeps(size)) << size;
  }
  EXPECT_TRUE(keeps(32 * mib - 1));
}

TEST(SizeCode, is_exact_near_powers_of_two) {
  Dice dice(1);
  for (int exponent = 24; exponent < 64; ++exponent) {
    const std::uint64_t power = std::uint64_t{1} << exponent;
    for (const std::uint64_t distance : {std::uint64_t{0}, std::uint64_t{1}, 16 * mib - 1}) {
      ASSERT_TRUE(keeps(power - distance)) << power << " - " << distance;
      ASSERT_TRUE(keeps(power + distance)) << power << " + " << distance;
    }
    const std::uint64_t distance = dice.below(16 * mib);
    ASSERT_TRUE(keeps(power - distance)) << power << " - " << distance;
    ASSERT_TRUE(keeps(power + distance)) << power << " + " << distance;
  }
}

TEST(SizeCode, is_exact_for_multiples_of_512_below_32_gib) {
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t size = 512 * dice.below(32768 * mib / 512);
    ASSERT_TRUE(keeps(size)) << size;
  }
}

TEST(SizeCode, is_exact_for_the_largest_sizes) {
  for (const std::uint64_t size : {~std::uint64_t{0}, ~std::uint64_t{0} - 511,
                                   std::uint64_t{1} << 63, (std::uint64_t{1} << 60) - 1})
    EXPECT_TRUE(keeps(size)) << size;
}

TEST(SizeCode, is_near_within_8_gib_of_a_power_of_two) {
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t power = i % 41 == 0 ? 0 : std::uint64_t{1} << (23 + i % 41);  // 0: 2^64.
    const std::uint64_t distance = dice.below(8191 * mib);
    const std::uint64_t size = i % 2 == 0 || power == 0 ? power - distance : power + distance;
    const std::uint64_t found = size_of(size_code(Bytes{size})).count;
    ASSERT_LT(std::min(size - found, found - size), 512U) << size << " became " << found;
  }
}

TEST(SizeCode, is_of_the_same_power_of_two_elsewhere) {
  Dice dice(1);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t size = dice.draw() >> dice.below(31);
    const std::uint64_t found = size_of(size_code(Bytes{size})).count;
    ASSERT_LE(std::bit_width(found) - std::bit_width(size), 0) << size << " became " << found;
    ASSERT_GE(found, size / 2) << size << " became " << found;
  }
}

// What a mutation of the code does to the size: the next but one code is the next byte, or the next
// unit of 512; the lowest bit chooses between the two; the highest bits are the power of two.
TEST(SizeCode, has_its_neighbours_nearby) {
  const std::uint32_t in_bytes = size_code(Bytes{2 * mib});
  EXPECT_EQ(size_of(in_bytes + 2), Bytes{2 * mib + 1});
  EXPECT_EQ(size_of(in_bytes - 2), Bytes{mib - 1}) << "of the next lower power";
  EXPECT_EQ(size_of(in_bytes | 1), Bytes{2 * mib});
  EXPECT_EQ(size_of((in_bytes | 1) + 2), Bytes{2 * mib + 512});
  EXPECT_EQ(size_of(in_bytes + (1U << 26)), Bytes{4 * mib});
}

TEST(SizeCode, of_any_bits_is_a_size_and_wraps) {
  EXPECT_EQ(size_of(0), Bytes{1});
  EXPECT_EQ(size_of(0x03fffffe), Bytes{0}) << "1 and -1";
  EXPECT_EQ(size_of(0x03fffffc), Bytes{~std::uint64_t{0}}) << "1 and -2";
  EXPECT_EQ(size_of(0xffffffff), Bytes{(std::uint64_t{1} << 63) - 512});
}

}  // namespace
}  // namespace cairn::testing
