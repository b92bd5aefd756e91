#include "base/units.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>

namespace cairn {
namespace {

using namespace literals;

template <class A, class B, class = void>
inline constexpr bool can_add = false;
template <class A, class B>
inline constexpr bool can_add<A, B, std::void_t<decltype(std::declval<A>() + std::declval<B>())>> =
    true;

TEST(Units, WhatHasNoMeaningDoesNotCompile) {
  static_assert(can_add<Bytes, Bytes> && can_add<Address, Bytes>);
  static_assert(!can_add<Address, Address> && !can_add<Bytes, Address>);
  static_assert(std::is_same_v<decltype(Address{} - Address{}), Bytes>);
  static_assert(!std::is_convertible_v<Bytes, Address> && !std::is_convertible_v<int, Bytes>);
}

TEST(Units, LiteralsAreBinary) {
  EXPECT_EQ(7_B, Bytes{7});
  EXPECT_EQ(3_KiB, Bytes{3072});
  EXPECT_EQ(1_MiB, 1024_KiB);
  EXPECT_EQ(1_GiB, 1024_MiB);
}

TEST(Units, BytesAddSubtractAndCompare) {
  Bytes size = 1_KiB;
  size += 512_B;
  EXPECT_EQ(size, 1536_B);
  size -= 1_KiB;
  EXPECT_EQ(size, 512_B);
  EXPECT_EQ(size * 3, 1_KiB + 512_B);
  EXPECT_EQ(1537_B % 512_B, 1_B);
  EXPECT_LT(511_B, 512_B);
}

TEST(Units, RoundingUpKeepsMultiplesAndNeverGoesBelow) {
  EXPECT_EQ(round_up(0_B, 512_B), 0_B);
  EXPECT_EQ(round_up(1_B, 512_B), 512_B);
  EXPECT_EQ(round_up(512_B, 512_B), 512_B);
  EXPECT_EQ(round_up(513_B, 512_B), 1024_B);
  EXPECT_EQ(round_up(Address{4097}, 4_KiB), Address{8192});
  EXPECT_EQ(round_up(Address{4096}, 4_KiB), Address{4096});
  EXPECT_EQ(round_up(Bytes{(1ull << 60) - 1}, 2_MiB), Bytes{1ull << 60});
}

TEST(Units, RoundingDownKeepsMultiplesAndNeverGoesAbove) {
  EXPECT_EQ(round_down(511_B, 512_B), 0_B);
  EXPECT_EQ(round_down(512_B, 512_B), 512_B);
  EXPECT_EQ(round_down(1023_B, 512_B), 512_B);
}

TEST(Units, PowersOfTwo) {
  EXPECT_FALSE(is_power_of_two(0_B));
  for (int bit = 0; bit < 64; ++bit) {
    const Bytes power{std::uint64_t{1} << bit};
    EXPECT_TRUE(is_power_of_two(power)) << bit;
    EXPECT_EQ(is_power_of_two(power + 1_B), bit == 0) << bit;
    EXPECT_EQ(is_power_of_two(power - 1_B), bit == 1) << bit;
  }
}

TEST(Units, MultiplesAndAlignment) {
  EXPECT_TRUE(is_multiple(0_B, 512_B));
  EXPECT_TRUE(is_multiple(1024_B, 512_B));
  EXPECT_FALSE(is_multiple(1023_B, 512_B));
  EXPECT_TRUE(is_aligned(Address{0x7e0000000200}, 512_B));
  EXPECT_FALSE(is_aligned(Address{0x7e0000000100}, 512_B));
}

TEST(Span, HoldsItsBeginAndNotItsEnd) {
  const Span span{Address{0x1000}, 512_B};
  EXPECT_EQ(span.end(), Address{0x1200});
  EXPECT_FALSE(span.contains(Address{0xfff}));
  EXPECT_TRUE(span.contains(Address{0x1000}));
  EXPECT_TRUE(span.contains(Address{0x11ff}));
  EXPECT_FALSE(span.contains(Address{0x1200}));
}

TEST(Span, HoldsASpanOnlyWhole) {
  const Span outer{Address{0x1000}, 1_KiB};
  EXPECT_TRUE(outer.contains(outer));
  EXPECT_TRUE(outer.contains(Span{Address{0x1200}, 512_B}));
  EXPECT_FALSE(outer.contains(Span{Address{0x1200}, 513_B}));
  EXPECT_FALSE(outer.contains(Span{Address{0xfff}, 512_B}));
}

TEST(Span, NeighboursDoNotOverlap) {
  const Span span{Address{0x1000}, 512_B};
  EXPECT_FALSE(span.overlaps(Span{Address{0x1200}, 512_B}));
  EXPECT_FALSE(span.overlaps(Span{Address{0xe00}, 512_B}));
  EXPECT_TRUE(span.overlaps(Span{Address{0xe00}, 513_B}));
  EXPECT_TRUE(span.overlaps(Span{Address{0x11ff}, 1_B}));
  EXPECT_TRUE(span.overlaps(Span{Address{0x0}, 1_MiB}));
  EXPECT_TRUE(span.overlaps(Span{Address{0x1100}, 1_B}));
}

}  // namespace
}  // namespace cairn
