// Which block serves a request, and what is left of it.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "invariants/model/model.h"
#include "invariants/model/scripted_driver.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = 0;
constexpr std::uint64_t s1 = 16;
constexpr Address base{0x7000'0000'0000};

InitialSegment large_segment(Address at, const std::vector<InitialBlock>& blocks,
                             std::uint64_t stream = s0) {
  Bytes size;
  for (const InitialBlock& block : blocks) size += block.size;
  return {0, {at, size}, PoolKind::large, {stream}, blocks};
}
InitialSegment small_segment(Address at, const std::vector<InitialBlock>& blocks) {
  InitialSegment segment = large_segment(at, blocks);
  segment.pool = PoolKind::small;
  return segment;
}
InitialBlock free_block(Bytes size) { return {size, false}; }
InitialBlock live_block(Bytes size) { return {size, true}; }

struct World {
  explicit World(const Options& options = {}) : model(options, {8_GiB, 8_GiB}, driver) {}

  Outcome allocate(Bytes size, std::uint64_t stream = s0, Bytes alignment = 512_B) {
    return model.allocate({0, stream, size, alignment});
  }
  Address address(Bytes size, std::uint64_t stream = s0, Bytes alignment = 512_B) {
    const Outcome outcome = allocate(size, stream, alignment);
    EXPECT_EQ(outcome.code, ErrorCode::none);
    return outcome.address;
  }
  // Sizes of the blocks of the n-th segment in order of address, the free ones negative.
  std::vector<std::int64_t> blocks(std::size_t segment) {
    EXPECT_TRUE(statistics_recount(model, 0));
    const BlockMap map = model.map(0);
    std::vector<std::int64_t> sizes;
    for (const BlockInfo& block : map[segment].blocks) {
      const auto size = static_cast<std::int64_t>(block.size_bytes);
      sizes.push_back(block.state == BlockState::inactive ? -size : size);
    }
    return sizes;
  }

  ScriptedDriver driver;
  Model model;
};

using Sizes = std::vector<std::int64_t>;
constexpr std::int64_t mib = 1 << 20;

Options max_split(Bytes size) {
  Options options;
  options.max_split_size_bytes = size.count;
  return options;
}

TEST(BestFit, TheSmallestThatIsLargeEnough) {
  World world;
  world.model.add_initial_segment(
      large_segment(base, {free_block(9_MiB), live_block(2_MiB), free_block(4_MiB),
                           live_block(2_MiB), free_block(3_MiB - 512_B)}));
  EXPECT_EQ(world.address(3_MiB), base + 11_MiB);
  EXPECT_EQ(world.address(3_MiB), base);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(BestFit, AmongEqualsTheOldestSegmentOrTheLowestAddress) {
  for (const BestFitTie tie : {BestFitTie::segment, BestFitTie::address}) {
    Options options;
    options.best_fit_tie = tie;
    World world(options);
    world.model.add_initial_segment(large_segment(base + 1_GiB, {free_block(4_MiB)}));
    world.model.add_initial_segment(large_segment(base, {free_block(4_MiB)}));
    const bool oldest_first = tie == BestFitTie::segment;
    EXPECT_EQ(world.address(4_MiB), oldest_first ? base + 1_GiB : base);
    EXPECT_EQ(world.address(4_MiB), oldest_first ? base : base + 1_GiB);
  }
}

TEST(BestFit, WithinASegmentTheLowestAddress) {
  World world;
  world.model.add_initial_segment(
      large_segment(base, {free_block(4_MiB), live_block(4_MiB), free_block(4_MiB)}));
  EXPECT_EQ(world.address(4_MiB), base);
}

TEST(BestFit, ASegmentMadeAnewIsTheYoungest) {
  World world;
  world.driver.next_address(base);
  const Address low = world.address(10_MiB);
  world.driver.next_address(base + 1_GiB);
  const Address high = world.address(10_MiB);
  EXPECT_EQ(world.model.free(low), ErrorCode::none);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);  // The lower one goes and comes back.
  world.driver.next_address(base);
  EXPECT_EQ(world.address(10_MiB), low);
  world.model.free(low);
  world.model.free(high);
  EXPECT_EQ(world.address(10_MiB), high);
}

TEST(BestFit, OnlyItsOwnStreamAndPool) {
  World world;
  world.model.add_initial_segment(large_segment(base, {free_block(2_MiB)}, s1));
  world.model.add_initial_segment(small_segment(base + 1_GiB, {free_block(2_MiB)}));
  const Address given = world.address(2_MiB);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 20MiB"});
  EXPECT_EQ(given, Address{std::uint64_t{1} << 40});
  EXPECT_EQ(world.address(2_MiB, s1), base);
  EXPECT_EQ(world.address(1_MiB), base + 1_GiB);
}

TEST(Split, TheLowerPartIsHandedOut) {
  World world;
  const Address given = world.address(512_B);
  EXPECT_EQ(world.blocks(0), (Sizes{512, -(2 * mib - 512)}));
  EXPECT_EQ(world.address(1_MiB), given + 512_B);
}

TEST(Split, ARemainderOfOneMebibyteStaysWithALargeBlock) {
  World world;
  world.address(10_MiB + 512_B);  // In a segment of 12 MiB.
  EXPECT_EQ(world.blocks(0), (Sizes{10 * mib + 512, -(2 * mib - 512)}));
  World other;
  other.address(11_MiB);
  EXPECT_EQ(other.blocks(0), (Sizes{12 * mib}));
}

TEST(Free, MergesBothWaysAndKeepsLiveNeighboursApart) {
  World world;
  const Address a = world.address(1_MiB);
  const Address b = world.address(512_KiB);
  const Address c = world.address(256_KiB);
  world.model.free(b);
  EXPECT_EQ(world.blocks(0), (Sizes{mib, -mib / 2, mib / 4, -mib / 4}));
  world.model.free(c);
  EXPECT_EQ(world.blocks(0), (Sizes{mib, -mib}));
  world.model.free(a);
  EXPECT_EQ(world.blocks(0), (Sizes{-2 * mib}));
}

TEST(Oversize, SmallerRequestsDoNotTouchLargeBlocks) {
  World world(max_split(20_MiB));
  world.model.add_initial_segment(large_segment(base, {free_block(20_MiB)}));
  world.address(20_MiB - 512_B);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 20MiB"});
}

TEST(Oversize, LargeRequestsTakeBlocksOfNearlyTheirSizeWhole) {
  for (const Bytes block : {44_MiB - 512_B, 44_MiB}) {
    World world(max_split(20_MiB));
    world.model.add_initial_segment(large_segment(base, {free_block(block)}));
    const bool hit = world.address(24_MiB) == base;
    EXPECT_EQ(hit, block < 44_MiB);
    EXPECT_EQ(world.blocks(hit ? 0 : 1).size(), 1U);
  }
}

TEST(Oversize, WithoutALimitToRoundingAnyLargeBlockWillDo) {
  Options options = max_split(20_MiB);
  options.max_non_split_rounding_bytes = Options::unlimited;
  World world(options);
  world.model.add_initial_segment(large_segment(base, {free_block(512_MiB)}));
  EXPECT_EQ(world.address(20_MiB), base);
  EXPECT_EQ(world.blocks(0), (Sizes{512 * mib}));
}

TEST(Alignment, WhatPrecedesIsSplitOffAndStaysFree) {
  World world;
  world.model.add_initial_segment(large_segment(base, {live_block(1_MiB), free_block(19_MiB)}));
  EXPECT_EQ(world.address(2_MiB, s0, 2_MiB), base + 2_MiB);
  EXPECT_EQ(world.blocks(0), (Sizes{mib, -mib, 2 * mib, -16 * mib}));
}

TEST(Alignment, TheFirstBlockInOrderThatHoldsAnAlignedRange) {
  World world;
  world.model.add_initial_segment(large_segment(
      base, {live_block(1_MiB), free_block(2_MiB), live_block(1_MiB), free_block(4_MiB)}));
  EXPECT_EQ(world.address(2_MiB, s0, 2_MiB), base + 4_MiB);
  EXPECT_EQ(world.blocks(0), (Sizes{mib, -2 * mib, mib, 2 * mib, -2 * mib}));
}

TEST(Alignment, TheOversizeRulesLookAtTheWholeBlock) {
  World world(max_split(20_MiB));
  world.model.add_initial_segment(
      large_segment(base + 1_MiB, {free_block(21_MiB)}));  // Aligned: 20 MiB.
  world.model.add_initial_segment(large_segment(base + 1_GiB, {free_block(24_MiB)}));
  world.address(4_MiB, s0, 2_MiB);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 20MiB"});
  EXPECT_EQ(world.address(20_MiB, s0, 2_MiB), base + 2_MiB);
  EXPECT_EQ(world.blocks(1), (Sizes{-mib, 20 * mib}));
}

TEST(Alignment, TheNormalSplitRuleAppliesToTheRest) {
  World world;
  world.model.add_initial_segment(small_segment(
      base + 512_B, {free_block(1_MiB), live_block(512_B), free_block(1_MiB - 1024_B)}));
  EXPECT_EQ(world.address(1_KiB, s0, 1_KiB), base + 1_MiB + 1_KiB);
  EXPECT_EQ(world.blocks(0), (Sizes{-mib, 512, 1024, -(mib - 2048)}));
  EXPECT_EQ(world.address(512_B, s0, 512_KiB), base + 1_MiB + 512_KiB);
  EXPECT_EQ(world.blocks(0), (Sizes{-mib, 512, 1024, -(mib / 2 - 2048), 512, -(mib / 2 - 512)}));
}

TEST(Alignment, ANewSegmentWithoutAnAlignedRangeStaysAndTheRequestIsUnsupported) {
  World world;
  world.driver.next_address(base + 512_KiB);
  const Outcome outcome = world.allocate(10_MiB, s0, 1_MiB);
  EXPECT_EQ(outcome.code, ErrorCode::unsupported);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 10MiB"});
  EXPECT_EQ(world.blocks(0), (Sizes{-10 * mib}));
  EXPECT_EQ(world.model.stats(0).num_device_alloc, 1);
  EXPECT_EQ(world.model.stats(0).num_ooms, 0);
  EXPECT_EQ(world.address(10_MiB), base + 512_KiB);
}

TEST(Alignment, ANewSegmentIsCutLikeAnyBlock) {
  World world;
  world.driver.next_address(base + 512_KiB);
  EXPECT_EQ(world.address(5_MiB, s0, 2_MiB), base + 2_MiB);
  EXPECT_EQ(world.blocks(0), (Sizes{-3 * mib / 2, 5 * mib, -27 * mib / 2}));
}

TEST(Door, ZeroBytesAreNullAndFreeingNullDoesNothing) {
  World world;
  const Outcome outcome = world.allocate(0_B);
  EXPECT_EQ(outcome.code, ErrorCode::none);
  EXPECT_EQ(outcome.address, Address{0});
  EXPECT_EQ(world.model.free(Address{0}, 7_B, s1), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Door, TwoToThe60IsOutOfMemoryAndNothingCounts) {
  World world;
  const Bytes limit{std::uint64_t{1} << 60};
  EXPECT_EQ(world.allocate(limit).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.driver.calls(), Calls{});
  EXPECT_EQ(world.model.stats(0).num_ooms, 0);
  world.driver.answer({2, 2});
  EXPECT_EQ(world.allocate(limit - 1_B).code, ErrorCode::out_of_memory);
  EXPECT_EQ(world.model.stats(0).num_ooms, 1);
}

TEST(Door, ABadAlignmentOrDeviceIsSeenBeforeTheSize) {
  World world;
  const Bytes limit{std::uint64_t{1} << 60};
  for (const Bytes alignment : {0_B, 3_B, 768_B, 2_MiB + 1_B, 4_MiB}) {
    for (const Bytes size : {0_B, 1_B, limit}) {
      EXPECT_EQ(world.allocate(size, s0, alignment).code, ErrorCode::invalid_argument);
    }
  }
  for (const DeviceIndex device : {-1, 2}) {
    const Outcome outcome = world.model.allocate({device, s0, limit, 512_B});
    EXPECT_EQ(outcome.code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Door, WeakAlignmentsAre512) {
  World world;
  const Address given = world.address(1_B, s0, 1_B);
  EXPECT_EQ(world.address(1_B, s0, 256_B), given + 512_B);
}

TEST(Free, RefusesWhatIsNotTheStartOfALiveBlock) {
  World world;
  const Address given = world.address(4096_B);
  const BlockMap before = world.model.map(0);
  EXPECT_EQ(world.model.free(given + 512_B), ErrorCode::invalid_argument);   // Interior.
  EXPECT_EQ(world.model.free(given + 4096_B), ErrorCode::invalid_argument);  // A free block.
  EXPECT_EQ(world.model.free(Address{0x1234}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.stats(0).allocation.all.current, 1);
  EXPECT_EQ(world.model.free(given), ErrorCode::none);
  EXPECT_EQ(world.model.free(given), ErrorCode::invalid_argument);  // Twice.
}

TEST(Free, ChecksTheRequestedSizeAndTheStreamWhenTheyAreGiven) {
  World world;
  const Address given = world.address(1000_B, s1);
  EXPECT_EQ(world.model.free(given, 1024_B), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.free(given, 1000_B, s0), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.free(given, {}, s0), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.stats(0).allocation.all.current, 1);
  EXPECT_EQ(world.model.free(given, 1000_B, s1), ErrorCode::none);
}

TEST(Devices, HaveSegmentsOfTheirOwnAndOneSpaceOfAddresses) {
  World world;
  const Outcome first = world.model.allocate({1, s0, 1_MiB, 512_B});
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 1 2MiB"});
  world.address(1_MiB);
  EXPECT_EQ(world.driver.calls(), Calls{"malloc 0 2MiB"});
  EXPECT_EQ(world.model.map(1)[0].device, 1);
  EXPECT_EQ(world.model.free(first.address), ErrorCode::none);
  EXPECT_EQ(world.model.stats(1).allocation.all.freed, 1);
  EXPECT_EQ(world.model.stats(0).allocation.all.freed, 0);
}

TEST(Map, TellsSegmentsInOrderOfAddressAndNoRequestedSizeOfFreeBlocks) {
  World world;
  world.model.add_initial_segment(large_segment(base + 1_GiB, {free_block(4_MiB)}, s1));
  world.model.add_initial_segment(small_segment(base, {free_block(2_MiB)}));
  const Address a = world.address(1000_B);
  const Address b = world.address(2000_B);
  world.model.free(a);
  const BlockMap map = world.model.map(0);
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map[0].address, base.value);
  EXPECT_EQ(map[0].size_bytes, (2_MiB).count);
  EXPECT_FALSE(map[0].is_large);
  EXPECT_EQ(map[1].stream, s1);
  EXPECT_TRUE(map[1].is_large);
  ASSERT_EQ(map[0].blocks.size(), 3U);
  EXPECT_EQ(map[0].blocks[0].requested_size_bytes, 0U);
  EXPECT_EQ(map[0].blocks[1].address, b.value);
  EXPECT_EQ(map[0].blocks[1].requested_size_bytes, 2000U);
  EXPECT_EQ(map[0].blocks[1].state, BlockState::active_allocated);
}

}  // namespace
}  // namespace cairn::model
