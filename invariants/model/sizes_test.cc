#include "invariants/model/sizes.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace cairn::model {
namespace {

using namespace literals;

Options with_divisions(std::uint64_t divisions) {
  Options options;
  options.roundup_power2_divisions.fill(divisions);
  return options;
}

// What `[128:8,256:16,512:1,2048:8,>:2]` becomes: the first fills what is below, `>` what is above.
Options with_divisions_by_class() {
  Options options;
  options.roundup_power2_divisions = {8, 8, 8, 8, 8, 8, 8, 8, 16, 1, 0, 8, 2, 2, 2, 2};
  return options;
}

TEST(Sizes, TheDocumentedTable) {
  struct Row {
    Bytes request;
    std::uint64_t divisions;
    Bytes rounded;
    Bytes segment;
  };
  for (const Row& row : {
           Row{1_B, 0, 512_B, 2_MiB},
           Row{513_B, 0, 1024_B, 2_MiB},
           Row{1200_B, 4, 1536_B, 2_MiB},
           Row{2049_B, 4, 2560_B, 2_MiB},
           Row{5000_B, 4, 5120_B, 2_MiB},
           Row{3_MiB + 1_B, 8, 3407872_B, 20_MiB},
           Row{1025_MiB, 4, 1342177280_B, 1342177280_B},
           Row{1025_MiB, 1, 1074790400_B, 1075838976_B},
           Row{1537_MiB, 2, 2_GiB, 2_GiB},
       }) {
    const Options options = with_divisions(row.divisions);
    const Bytes rounded = rounded_size(row.request, options);
    EXPECT_EQ(rounded.count, row.rounded.count) << "of " << row.request.count;
    EXPECT_EQ(segment_size(rounded, options).count, row.segment.count);
  }
}

TEST(Sizes, WithoutDivisionsTheNextMultipleOf512) {
  const Options options;
  EXPECT_EQ(rounded_size(511_B, options), 512_B);
  EXPECT_EQ(rounded_size(512_B, options), 512_B);
  EXPECT_EQ(rounded_size(1024_B, options), 1024_B);
  EXPECT_EQ(rounded_size(1_MiB + 1_B, options), 1_MiB + 512_B);
  EXPECT_EQ(rounded_size(1_GiB * (1U << 30) - 1_B, options), 1_GiB * (1U << 30));
}

TEST(Sizes, DivisionsAreUsedAbove512TimesTheirNumber) {
  const Options options = with_divisions(4);
  EXPECT_EQ(rounded_size(2047_B, options), 2048_B);
  EXPECT_EQ(rounded_size(2048_B, options), 2048_B);
  EXPECT_EQ(rounded_size(4097_B, options), 5120_B);
  EXPECT_EQ(rounded_size(5121_B, options), 6144_B);
  EXPECT_EQ(rounded_size(7169_B, options), 8192_B);  // The last division ends at the power of two.
  EXPECT_EQ(rounded_size(8192_B, options), 8192_B);
}

// With so many divisions 512 times their number is 2^64, which is 0.
TEST(Sizes, AbsurdlyManyDivisionsRoundToThePowerOfTwoAbove) {
  const Options options = with_divisions(std::uint64_t{1} << 55);
  EXPECT_EQ(rounded_size(512_B, options), 512_B);
  EXPECT_EQ(rounded_size(513_B, options), 1024_B);
  EXPECT_EQ(rounded_size(5000_B, options), 8192_B);
  EXPECT_EQ(rounded_size(5000_B, with_divisions(std::uint64_t{1} << 54)), 5120_B);
}

TEST(Sizes, DivisionsAreChosenBySize) {
  const Options options = with_divisions_by_class();
  EXPECT_EQ(rounded_size(1_MiB + 1_B, options), 1_MiB + 128_KiB);      // 8, filled from below.
  EXPECT_EQ(rounded_size(64_MiB + 1_B, options), 72_MiB);              // 8
  EXPECT_EQ(rounded_size(128_MiB + 1_B, options), 144_MiB);            // 8
  EXPECT_EQ(rounded_size(256_MiB + 1_B, options), 272_MiB);            // 16
  EXPECT_EQ(rounded_size(512_MiB + 1_B, options), 512_MiB + 512_B);    // 1 is off.
  EXPECT_EQ(rounded_size(1024_MiB + 1_B, options), 1024_MiB + 512_B);  // 0 is off.
  EXPECT_EQ(rounded_size(2048_MiB + 1_B, options), 2304_MiB);          // 8
  EXPECT_EQ(rounded_size(4096_MiB + 1_B, options), 6144_MiB);          // 2
  EXPECT_EQ(rounded_size(1024_GiB + 1_B, options), 1536_GiB);          // 2, all the rest.
}

TEST(Sizes, EntryKOfTheDivisionsIsForTwoToTheKMebibytes) {
  for (std::size_t index = 0; index < 16; ++index) {
    Options options;
    options.roundup_power2_divisions[index] = 2;
    const Bytes from{std::uint64_t{1} << (20 + index)};
    const Bytes up_to = from + from;
    EXPECT_EQ(rounded_size(from + 1_B, options).count, from.count * 3 / 2) << index;
    EXPECT_EQ(rounded_size(up_to - 1_B, options), up_to) << index;
    if (index > 0) {
      EXPECT_EQ(rounded_size(from - 513_B, options), from - 512_B) << index;
    }
    if (index < 15) {
      EXPECT_EQ(rounded_size(up_to + 1_B, options), up_to + 512_B) << index;
    }
  }
}

TEST(Sizes, TheRoundedSizeChoosesThePool) {
  EXPECT_EQ(pool_of(512_B), PoolKind::small);
  EXPECT_EQ(pool_of(1_MiB), PoolKind::small);
  EXPECT_EQ(pool_of(1_MiB + 512_B), PoolKind::large);
}

TEST(Sizes, SegmentsAtTheBordersOfTheirClasses) {
  Options options;
  EXPECT_EQ(segment_size(1_MiB, options), 2_MiB);
  EXPECT_EQ(segment_size(1_MiB + 512_B, options), 20_MiB);
  EXPECT_EQ(segment_size(10_MiB - 512_B, options), 20_MiB);
  EXPECT_EQ(segment_size(10_MiB, options), 10_MiB);
  EXPECT_EQ(segment_size(10_MiB + 512_B, options), 12_MiB);
  options.large_segment_size_bytes = (64_MiB).count;
  EXPECT_EQ(segment_size(10_MiB - 512_B, options), 64_MiB);
  EXPECT_EQ(segment_size(10_MiB, options), 10_MiB);
}

TEST(Sizes, TheSmallPoolSplitsOff512AndTheLargePoolMoreThanAMebibyte) {
  const Options options;
  EXPECT_FALSE(splits_off(1_MiB, 0_B, options));
  EXPECT_TRUE(splits_off(1_MiB, 512_B, options));
  EXPECT_FALSE(splits_off(2_MiB, 1_MiB, options));
  EXPECT_TRUE(splits_off(2_MiB, 1_MiB + 512_B, options));
}

TEST(Sizes, RequestsOfMaxSplitSizeTakeTheWholeBlock) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  EXPECT_TRUE(splits_off(20_MiB - 512_B, 2_MiB, options));
  EXPECT_FALSE(splits_off(20_MiB, 2_MiB, options));
}

}  // namespace
}  // namespace cairn::model
