// The quantities of an allocator, each its own type: a count of bytes, an address of device memory,
// and the span of both. Arithmetic that has no meaning (address plus address) does not compile.
#pragma once

#include <compare>
#include <cstdint>

static_assert(__cplusplus >= 202002L, "this header of Cairn's needs C++20: -std=c++20 or later");

namespace cairn {

struct Bytes {
  std::uint64_t count = 0;

  friend constexpr auto operator<=>(const Bytes&, const Bytes&) = default;
  constexpr Bytes& operator+=(Bytes other) {
    count += other.count;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes other) {
    count -= other.count;
    return *this;
  }
};

constexpr Bytes operator+(Bytes a, Bytes b) { return {a.count + b.count}; }
constexpr Bytes operator-(Bytes a, Bytes b) { return {a.count - b.count}; }
constexpr Bytes operator*(Bytes a, std::uint64_t factor) { return {a.count * factor}; }
constexpr Bytes operator%(Bytes a, Bytes b) { return {a.count % b.count}; }

// An address in the virtual address space that host and all devices share; never dereferenced.
struct Address {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const Address&, const Address&) = default;
};

constexpr Address operator+(Address a, Bytes b) { return {a.value + b.count}; }
constexpr Bytes operator-(Address a, Address b) { return {a.value - b.value}; }

struct Span {
  Address begin;
  Bytes size;

  constexpr Address end() const { return begin + size; }
  constexpr bool contains(Address address) const { return begin <= address && address < end(); }
  constexpr bool contains(Span inner) const { return begin <= inner.begin && inner.end() <= end(); }
  constexpr bool overlaps(Span other) const { return begin < other.end() && other.begin < end(); }
  friend constexpr bool operator==(const Span&, const Span&) = default;
};

namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return {n}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {n << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {n << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {n << 30}; }
}  // namespace literals

// Not std::has_single_bit, which calls the runtime library where the processor need not count bits.
constexpr bool is_power_of_two(Bytes b) { return b.count != 0 && (b.count & (b.count - 1)) == 0; }

// The nearest multiple of `step` (a power of two) that is not below. The caller sees to it that it
// does not pass 2^64.
constexpr Bytes round_up(Bytes b, Bytes step) {
  return {(b.count + step.count - 1) & ~(step.count - 1)};
}
constexpr Bytes round_down(Bytes b, Bytes step) { return {b.count & ~(step.count - 1)}; }
constexpr Address round_up(Address a, Bytes step) { return {round_up(Bytes{a.value}, step).count}; }
constexpr bool is_multiple(Bytes b, Bytes step) { return b.count % step.count == 0; }
constexpr bool is_aligned(Address a, Bytes step) { return a.value % step.count == 0; }

}  // namespace cairn
