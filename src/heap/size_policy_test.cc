// How sizes are decided: the tables of the reference, and both sides of every border.
#include "heap/size_policy.h"

#include <gtest/gtest.h>

#include <bit>
#include <string>
#include <vector>

#include "cairn/options.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Bytes exbi{std::uint64_t{1} << 60};

SizePolicy with_divisions(std::uint64_t divisions) {
  Options options;
  options.roundup_power2_divisions.fill(divisions);
  return SizePolicy(options);
}

SizePolicy with_list(const std::string& list) {
  const ParsedSettings parsed = parse_settings("roundup_power2_divisions:" + list);
  EXPECT_TRUE(parsed.ok) << parsed.error.message;
  return SizePolicy(parsed.options);
}

SizePolicy with_max_split(Bytes max_split, Bytes non_split_rounding = 20_MiB) {
  Options options;
  options.max_split_size_bytes = max_split.count;
  options.max_non_split_rounding_bytes = non_split_rounding.count;
  return SizePolicy(options);
}

TEST(SizePolicyRound, WithoutDivisionsTo512) {
  const SizePolicy policy{Options{}};
  EXPECT_EQ(policy.round(1_B), 512_B);
  EXPECT_EQ(policy.round(511_B), 512_B);
  EXPECT_EQ(policy.round(512_B), 512_B);
  EXPECT_EQ(policy.round(513_B), 1024_B);
  EXPECT_EQ(policy.round(1_MiB), 1_MiB);
  EXPECT_EQ(policy.round(1_MiB + 1_B), 1_MiB + 512_B);
  EXPECT_EQ(policy.round(1025_MiB), 1025_MiB);
  EXPECT_EQ(policy.round(exbi - 1_B), exbi);
}

struct Row {
  Bytes request;
  std::uint64_t divisions;
  Bytes rounded;
  Bytes segment;
};

TEST(SizePolicyRound, TheTableOfTheReference) {
  const std::vector<Row> rows{
      {1_B, 0, 512_B, 2_MiB},
      {513_B, 0, 1024_B, 2_MiB},
      {1200_B, 4, 1536_B, 2_MiB},
      {2049_B, 4, 2560_B, 2_MiB},
      {5000_B, 4, 5120_B, 2_MiB},
      {3_MiB + 1_B, 8, 3407872_B, 20_MiB},
      {1025_MiB, 4, 1342177280_B, 1342177280_B},
      {1025_MiB, 1, 1074790400_B, 1075838976_B},
      {1537_MiB, 2, 2_GiB, 2_GiB},
  };
  for (const Row& row : rows) {
    const SizePolicy policy = with_divisions(row.divisions);
    EXPECT_EQ(policy.round(row.request), row.rounded) << row.request.count;
    EXPECT_EQ(policy.segment_size(row.rounded), row.segment) << row.request.count;
  }
}

TEST(SizePolicyRound, DivisionsBeginAbove512BytesEach) {
  const SizePolicy policy = with_divisions(4);
  EXPECT_EQ(policy.round(2048_B), 2048_B);
  EXPECT_EQ(policy.round(2047_B), 2048_B);
  EXPECT_EQ(policy.round(2049_B), 2560_B);  // A step is 2048 / 4.
  EXPECT_EQ(policy.round(4097_B), 5120_B);  // A step is 4096 / 4.
  EXPECT_EQ(policy.round(5120_B), 5120_B);  // A multiple stays,
  EXPECT_EQ(policy.round(4096_B), 4096_B);  // and a power of two,
  EXPECT_EQ(policy.round(7169_B), 8192_B);  // which also ends the last step.
}

TEST(SizePolicyRound, OneDivisionAndNoneAreOff) {
  for (const std::uint64_t divisions : {0U, 1U}) {
    const SizePolicy policy = with_divisions(divisions);
    EXPECT_EQ(policy.round(1025_MiB + 1_B), 1025_MiB + 512_B);
    EXPECT_EQ(policy.round(2049_B), 2560_B);
  }
}

// 1 MiB over a power of two: 8 divisions round it up to the next eighth, and so on.
TEST(SizePolicyRound, EachDoublingHasItsOwnDivisions) {
  const SizePolicy policy = with_list("[128:8,256:16,512:1,2048:8,>:2]");
  EXPECT_EQ(policy.round(65_MiB), 72_MiB);
  EXPECT_EQ(policy.round(129_MiB), 144_MiB);
  EXPECT_EQ(policy.round(255_MiB + 1_B), 256_MiB);
  EXPECT_EQ(policy.round(257_MiB), 272_MiB);
  EXPECT_EQ(policy.round(513_MiB), 513_MiB);
  EXPECT_EQ(policy.round(1025_MiB), 1025_MiB);
  EXPECT_EQ(policy.round(2049_MiB), 2304_MiB);
  EXPECT_EQ(policy.round(4097_MiB), 6_GiB);
  EXPECT_EQ(policy.round(100_GiB), 128_GiB);
  EXPECT_EQ(policy.round(3_MiB + 1_B), 3_MiB + 256_KiB);  // The first fills below.
  EXPECT_EQ(policy.round(8193_B), 9_KiB);
}

TEST(SizePolicyRound, TheFirstEntryEndsBelow2MiBAndTheLastBeginsAt32GiB) {
  Options options;
  options.roundup_power2_divisions[0] = 2;
  options.roundup_power2_divisions[15] = 2;
  const SizePolicy policy(options);
  EXPECT_EQ(policy.round(1_MiB + 1_B), 1_MiB + 512_KiB);
  EXPECT_EQ(policy.round(2_MiB - 1_B), 2_MiB);
  EXPECT_EQ(policy.round(2_MiB + 1_B), 2_MiB + 512_B);
  EXPECT_EQ(policy.round(32_GiB - 1023_B), 32_GiB - 512_B);
  EXPECT_EQ(policy.round(32_GiB + 1_B), 48_GiB);
  EXPECT_EQ(policy.round(4096_GiB + 1_B), 6144_GiB);
}

// For any number of divisions, also where 512 times it passes 2^64.
TEST(SizePolicyRound, IsGranularAndNeverBelowTheRequest) {
  for (int divisions = 0; divisions < 64; ++divisions) {
    const SizePolicy policy = with_divisions(std::uint64_t{1} << divisions);
    for (int bit = 0; bit < 60; ++bit) {
      const Bytes power{std::uint64_t{1} << bit};
      for (const Bytes size : {power - 1_B, power, power + 1_B, power + Bytes{power.count / 3}}) {
        if (size == 0_B) continue;
        const Bytes rounded = policy.round(size);
        ASSERT_TRUE(is_multiple(rounded, 512_B)) << size.count << " by 2^" << divisions;
        ASSERT_GE(rounded, size) << size.count << " by 2^" << divisions;
        ASSERT_LE(rounded.count, std::max<std::uint64_t>(512, 2 * std::bit_ceil(size.count)));
      }
    }
  }
}

TEST(SizePolicyPool, SmallIsUpToOneMiB) {
  EXPECT_EQ(SizePolicy::pool_of(512_B), PoolKind::small);
  EXPECT_EQ(SizePolicy::pool_of(1_MiB), PoolKind::small);
  EXPECT_EQ(SizePolicy::pool_of(1_MiB + 512_B), PoolKind::large);
}

TEST(SizePolicySegment, BothSidesOfEachBorder) {
  const SizePolicy policy{Options{}};
  EXPECT_EQ(policy.segment_size(1_MiB), 2_MiB);
  EXPECT_EQ(policy.segment_size(1_MiB + 512_B), 20_MiB);
  EXPECT_EQ(policy.segment_size(10_MiB - 512_B), 20_MiB);
  EXPECT_EQ(policy.segment_size(10_MiB), 10_MiB);
  EXPECT_EQ(policy.segment_size(10_MiB + 512_B), 12_MiB);
  EXPECT_EQ(policy.segment_size(12_MiB), 12_MiB);
  EXPECT_EQ(policy.segment_size(exbi), exbi);
}

TEST(SizePolicySegment, TheLargeSegmentIsASetting) {
  Options options;
  options.large_segment_size_bytes = (36_MiB).count;
  const SizePolicy policy(options);
  EXPECT_EQ(policy.segment_size(1_MiB), 2_MiB);
  EXPECT_EQ(policy.segment_size(2_MiB), 36_MiB);
  EXPECT_EQ(policy.segment_size(10_MiB - 512_B), 36_MiB);
  EXPECT_EQ(policy.segment_size(10_MiB), 10_MiB);
}

TEST(SizePolicySplit, SmallKeepsARemainderOf512) {
  const SizePolicy policy{Options{}};
  EXPECT_FALSE(policy.splits(PoolKind::small, 512_B, 0_B));
  EXPECT_FALSE(policy.splits(PoolKind::small, 512_B, 511_B));
  EXPECT_TRUE(policy.splits(PoolKind::small, 512_B, 512_B));
  EXPECT_TRUE(policy.splits(PoolKind::small, 1_MiB, 512_B));
}

TEST(SizePolicySplit, LargeKeepsARemainderAboveOneMiB) {
  const SizePolicy policy{Options{}};
  EXPECT_FALSE(policy.splits(PoolKind::large, 2_MiB, 1_MiB));
  EXPECT_TRUE(policy.splits(PoolKind::large, 2_MiB, 1_MiB + 512_B));
}

TEST(SizePolicySplit, LargeRequestsOfMaxSplitSizeAndAboveAreNeverSplit) {
  const SizePolicy policy = with_max_split(64_MiB);
  EXPECT_TRUE(policy.splits(PoolKind::large, 64_MiB - 512_B, 20_MiB));
  EXPECT_FALSE(policy.splits(PoolKind::large, 64_MiB, 20_MiB));
  EXPECT_FALSE(policy.splits(PoolKind::large, 64_MiB - 512_B, 1_MiB));
  EXPECT_TRUE(policy.splits(PoolKind::small, 512_B, 512_B));
}

TEST(SizePolicyOversize, SmallerRequestsAreNotServedFromOversizeBlocks) {
  const SizePolicy policy = with_max_split(64_MiB);
  EXPECT_TRUE(policy.may_serve(2_MiB, 64_MiB - 512_B));
  EXPECT_FALSE(policy.may_serve(2_MiB, 64_MiB));
  EXPECT_FALSE(policy.may_serve(64_MiB - 512_B, 64_MiB));
}

TEST(SizePolicyOversize, OversizeRequestsTakeNearSizesAlone) {
  const SizePolicy policy = with_max_split(64_MiB, 32_MiB);
  EXPECT_TRUE(policy.may_serve(64_MiB, 64_MiB));
  EXPECT_TRUE(policy.may_serve(64_MiB, 96_MiB - 512_B));
  EXPECT_FALSE(policy.may_serve(64_MiB, 96_MiB));
  EXPECT_TRUE(policy.may_serve(100_MiB, 132_MiB - 512_B));
  EXPECT_FALSE(policy.may_serve(100_MiB, 132_MiB));
}

TEST(SizePolicyOversize, WithoutALimitNothingIsOversize) {
  const SizePolicy policy{Options{}};
  EXPECT_FALSE(policy.limits_splits());
  EXPECT_FALSE(policy.is_oversize(exbi));
  EXPECT_TRUE(policy.may_serve(2_MiB, exbi));
  EXPECT_TRUE(policy.splits(PoolKind::large, exbi - 2_MiB, 2_MiB));
}

TEST(SizePolicyOversize, BeginsAtMaxSplitSize) {
  const SizePolicy policy = with_max_split(64_MiB);
  EXPECT_TRUE(policy.limits_splits());
  EXPECT_EQ(policy.max_split_size(), 64_MiB);
  EXPECT_FALSE(policy.is_oversize(64_MiB - 512_B));
  EXPECT_TRUE(policy.is_oversize(64_MiB));
}

}  // namespace
}  // namespace cairn
