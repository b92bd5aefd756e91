// Bins, and exact best fit against a std::set.
#include "heap/free_index.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "heap/blocks_in_test.h"

namespace cairn {
namespace {

using namespace literals;

TEST(FreeIndexBins, AreExactUpToOneMiB) {
  for (std::uint64_t units = 0; units <= 2048; ++units) {
    ASSERT_EQ(FreeIndex::bin_of(Bytes{units * 512}), units);
  }
  EXPECT_EQ(FreeIndex::bin_of(1_MiB + 512_B), FreeIndex::exact_bins);
}

TEST(FreeIndexBins, ThirtyTwoDivideADoubling) {
  const std::size_t first = FreeIndex::exact_bins;
  EXPECT_EQ(FreeIndex::bin_of(1_MiB + 32_KiB - 512_B), first);
  EXPECT_EQ(FreeIndex::bin_of(1_MiB + 32_KiB), first + 1);
  EXPECT_EQ(FreeIndex::bin_of(2_MiB - 512_B), first + 31);
  EXPECT_EQ(FreeIndex::bin_of(2_MiB), first + 32);
  EXPECT_EQ(FreeIndex::bin_of(2_MiB + 64_KiB - 512_B), first + 32);
  EXPECT_EQ(FreeIndex::bin_of(2_MiB + 64_KiB), first + 33);
}

TEST(FreeIndexBins, NeverFallAsSizesGrow) {
  std::size_t last = 0;
  for (const Bytes size : border_sizes()) {
    const std::size_t bin = FreeIndex::bin_of(size);
    ASSERT_LE(last, bin) << size.count;
    ASSERT_LT(bin, FreeIndex::bin_count) << size.count;
    last = bin;
  }
}

TEST(FreeIndexBins, TheGreatestSizeHasTheLastBin) {
  EXPECT_EQ(FreeIndex::bin_of(Bytes{std::numeric_limits<std::uint64_t>::max()}),
            FreeIndex::bin_count - 1);
  EXPECT_EQ(FreeIndex::bin_of(Bytes{std::uint64_t{1} << 60}), FreeIndex::exact_bins + 40U * 32);
}

class FreeIndexTest : public testing::Test {
 protected:
  Block& insert(Bytes size, std::uint64_t age, std::uint64_t address) {
    Block& block = maker_.make(size, age);
    block.ptr = Address{address};
    index_.insert(block);
    return block;
  }

  BlockMaker maker_{1};
  FreeIndex index_{FreeOrder{}};
};

TEST_F(FreeIndexTest, EmptyHasNothing) {
  EXPECT_EQ(index_.smallest(), nullptr);
  EXPECT_EQ(index_.largest(), nullptr);
  EXPECT_EQ(index_.first_not_below(0_B), nullptr);
  EXPECT_EQ(index_.first_not_below(Bytes{std::numeric_limits<std::uint64_t>::max()}), nullptr);
}

TEST_F(FreeIndexTest, WhatIsInTheLastBinServesARequestOfTheOneBelow) {
  const Bytes greatest{std::numeric_limits<std::uint64_t>::max() / 512 * 512};
  const Bytes below{greatest.count - (std::uint64_t{1} << 58)};  // A bin is as wide there.
  ASSERT_EQ(FreeIndex::bin_of(below), FreeIndex::bin_count - 2);
  const Block& block = insert(greatest, 1, 0x9000);
  EXPECT_EQ(index_.first_not_below(below), &block);
}

TEST_F(FreeIndexTest, EqualSizesAreTakenByAgeThenAddress) {
  const Block& old_high = insert(4_KiB, 1, 0x9000);
  const Block& young_low = insert(4_KiB, 2, 0x1000);
  const Block& old_low = insert(4_KiB, 1, 0x5000);
  EXPECT_EQ(index_.first_not_below(4_KiB), &old_low);
  EXPECT_EQ(index_.after(old_low), &old_high);
  EXPECT_EQ(index_.after(old_high), &young_low);
  EXPECT_EQ(index_.after(young_low), nullptr);
  EXPECT_EQ(index_.before(young_low), &old_high);
}

// Within one bin above 1 MiB sizes differ, so that the bin alone does not tell.
TEST_F(FreeIndexTest, TheSmallestThatFitsIsFoundWithinABin) {
  const Block& smaller = insert(1_MiB + 1_KiB, 0, 0x100000);
  const Block& larger = insert(1_MiB + 2_KiB, 0, 0x400000);
  ASSERT_EQ(FreeIndex::bin_of(smaller.size), FreeIndex::bin_of(larger.size));
  EXPECT_EQ(index_.first_not_below(1_MiB + 512_B), &smaller);
  EXPECT_EQ(index_.first_not_below(1_MiB + 1_KiB), &smaller);
  EXPECT_EQ(index_.first_not_below(1_MiB + 1536_B), &larger);
  EXPECT_EQ(index_.first_not_below(1_MiB + 2560_B), nullptr);
}

TEST_F(FreeIndexTest, ABinThatIsEmptyAgainIsPassedOver) {
  Block& near = insert(1_KiB, 0, 0x1000);
  const Block& far = insert(Bytes{std::uint64_t{1} << 40}, 0, 0x2000);
  index_.erase(near);
  EXPECT_EQ(index_.first_not_below(512_B), &far);
  EXPECT_EQ(index_.smallest(), &far);
  EXPECT_EQ(index_.before(far), nullptr);
}

// Each pair of borders: the two words of the bitmaps that lie between them are all met.
TEST_F(FreeIndexTest, AnyTwoSizesFindEachOther) {
  const std::vector<Bytes> sizes = border_sizes();
  for (std::size_t low = 0; low < sizes.size(); low += 3) {
    Block& below = insert(sizes[low], 0, 0x1000);
    for (std::size_t high = low + 1; high < sizes.size(); high += 7) {
      Block& above = insert(sizes[high], 0, 0x2000);
      ASSERT_EQ(index_.after(below), &above) << sizes[low].count << " " << sizes[high].count;
      ASSERT_EQ(index_.before(above), &below) << sizes[low].count << " " << sizes[high].count;
      ASSERT_EQ(index_.first_not_below(sizes[low] + 1_B), &above);
      ASSERT_EQ(index_.largest(), &above);
      index_.erase(above);
    }
    index_.erase(below);
  }
}

void compare(const FreeIndex& index, const IndexOracle& oracle, Bytes size) {
  ASSERT_EQ(index.smallest(), oracle.smallest());
  ASSERT_EQ(index.largest(), oracle.largest());
  for (const Bytes wanted : {size - 512_B, size - 1_B, size, size + 1_B}) {
    ASSERT_EQ(index.first_not_below(wanted), oracle.first_not_below(wanted)) << wanted.count;
  }
}

void run_against_a_set(const std::vector<Bytes>& sizes, std::uint32_t seed, BestFitTie tie) {
  BlockMaker maker(seed);
  FreeIndex index{FreeOrder{tie}};
  IndexOracle oracle{tie};
  std::vector<Block*> in;
  for (int step = 0; step < 4000; ++step) {
    const bool grows = step / 500 % 2 == 0;
    if (in.empty() || maker.below(10) < (grows ? 7U : 3U)) {
      in.push_back(&maker.make_any(sizes));
      index.insert(*in.back());
      oracle.insert(*in.back());
    } else {
      std::swap(in[maker.below(in.size())], in.back());
      index.erase(*in.back());
      oracle.erase(*in.back());
      in.pop_back();
    }
    compare(index, oracle, sizes[maker.below(sizes.size())]);
    if (!in.empty()) {
      const Block& block = *in[maker.below(in.size())];
      ASSERT_EQ(index.after(block), oracle.after(block)) << "step " << step;
      ASSERT_EQ(index.before(block), oracle.before(block)) << "step " << step;
    }
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step;
  }
}

TEST(FreeIndex, AgreesWithASetAtAllBorders) {
  run_against_a_set(border_sizes(), 3, BestFitTie::segment);
}

TEST(FreeIndex, AgreesWithASetWhereTiesAreFrequent) {
  const std::vector<Bytes> sizes{512_B,         1_KiB,         1_MiB - 512_B, 1_MiB,
                                 1_MiB + 512_B, 1_MiB + 1_KiB, 20_MiB};
  run_against_a_set(sizes, 4, BestFitTie::segment);
  run_against_a_set(sizes, 4, BestFitTie::address);
}

TEST(FreeIndex, AgreesWithASetWithinOneBin) {
  std::vector<Bytes> sizes;
  for (std::uint64_t i = 0; i < 64; ++i) sizes.push_back(4_MiB + Bytes{i * 512});
  run_against_a_set(sizes, 5, BestFitTie::address);
}

}  // namespace
}  // namespace cairn
