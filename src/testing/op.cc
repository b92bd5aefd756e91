#include "testing/op.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cairn::testing {
namespace {

constexpr std::array<std::string_view, op_kind_count> names{
    "alloc",       "free",   "launch",      "use",   "order",  "sync",           "advance",
    "bad_free",    "poll",   "empty_cache", "fault", "stream", "destroy_stream", "memory_fraction",
    "reconfigure", "device", "exit",        "reset"};

constexpr std::uint32_t distance_bits = 26;
constexpr std::int64_t largest_distance = std::int64_t{1} << 24;  // 25 bits with a sign.
constexpr std::int64_t unit = 512;

std::uint32_t code_of(int exponent, std::int64_t distance, bool in_units) {
  const auto low = static_cast<std::uint32_t>(distance * 2 + (in_units ? 1 : 0));
  return static_cast<std::uint32_t>(exponent) << distance_bits |
         (low & ((std::uint32_t{1} << distance_bits) - 1));
}

// The distance from a power of two, wrapped as sums are.
std::int64_t distance_from(int exponent, Bytes size) {
  return static_cast<std::int64_t>(size.count - (std::uint64_t{1} << exponent));
}

bool fits(std::int64_t distance) {
  return -largest_distance <= distance && distance < largest_distance;
}

}  // namespace

std::string_view to_string(OpKind kind) { return names.at(static_cast<std::size_t>(kind)); }

Tape tape_of(std::span<const std::uint8_t> bytes) {
  Tape tape;
  const std::size_t head = std::min(bytes.size(), setup_bytes);
  if (head > 0) std::memcpy(&tape.setup, bytes.data(), head);
  tape.ops.resize((bytes.size() - head) / op_bytes);
  if (!tape.ops.empty())
    std::memcpy(tape.ops.data(), bytes.data() + head, tape.ops.size() * op_bytes);
  for (Op& op : tape.ops)
    op.kind = static_cast<OpKind>(static_cast<std::size_t>(op.kind) % op_kind_count);
  return tape;
}

std::vector<std::uint8_t> bytes_of(const Tape& tape) {
  std::vector<std::uint8_t> bytes(setup_bytes + tape.ops.size() * op_bytes);
  std::memcpy(bytes.data(), &tape.setup, setup_bytes);
  if (!tape.ops.empty())
    std::memcpy(bytes.data() + setup_bytes, tape.ops.data(), tape.ops.size() * op_bytes);
  return bytes;
}

Bytes size_of(std::uint32_t code) {
  const auto exponent = code >> distance_bits;
  const auto low = static_cast<std::int32_t>(code << (32 - distance_bits)) >> (32 - distance_bits);
  const std::int64_t distance = (low >> 1) * ((low & 1) != 0 ? unit : 1);
  return Bytes{(std::uint64_t{1} << exponent) + static_cast<std::uint64_t>(distance)};
}

std::uint32_t size_code(Bytes size) {
  const int below = static_cast<int>(std::bit_width(size.count | 1)) - 1;
  const std::array exponents{below, std::min(below + 1, 63), 0};  // 0: just below 2^64.
  for (const int exponent : exponents) {
    const std::int64_t distance = distance_from(exponent, size);
    if (fits(distance)) return code_of(exponent, distance, false);
  }
  for (const int exponent : exponents) {
    const std::int64_t units = distance_from(exponent, size) / unit;
    if (fits(units)) return code_of(exponent, units, true);
  }
  return code_of(below, largest_distance - 1, true);
}

}  // namespace cairn::testing
