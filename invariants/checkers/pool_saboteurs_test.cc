// Saboteurs of the free index and the live table.
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

// Shows a private member to a test: access is not checked in an explicit instantiation.
template <class Name, auto member>
struct Opened {
  friend constexpr auto pointer_to(Name) { return member; }
};
struct Words {
  friend constexpr auto pointer_to(Words);
};
struct Summary {
  friend constexpr auto pointer_to(Summary);
};
struct Slots {
  friend constexpr auto pointer_to(Slots);
};
struct Count {
  friend constexpr auto pointer_to(Count);
};
template struct Opened<Words, &FreeIndex::words_>;
template struct Opened<Summary, &FreeIndex::summary_>;
template struct Opened<Slots, &LiveTable::slots_>;
template struct Opened<Count, &LiveTable::count_>;

void flip_bit(FreeIndex& index, std::size_t bin) {
  (index.*pointer_to(Words{}))[bin / 64] ^= std::uint64_t{1} << (bin % 64);
}
void flip_summary_bit(FreeIndex& index, std::size_t word) {
  index.*pointer_to(Summary{}) ^= std::uint64_t{1} << word;
}

Block free_block(Address ptr, Bytes size) {
  Block block;
  block.ptr = ptr;
  block.size = size;
  block.registration_counter = 1;
  return block;
}

// Three blocks in one bin, the first two of equal size, and one in a bin of its own.
struct SmallIndex {
  SmallIndex() {
    for (Block* block : {&first, &second, &third, &other}) index.insert(*block);
  }

  Recorder dropped;
  FreeIndex index{FreeOrder{}};
  Block first = free_block({0x100000000}, 3_MiB);
  Block second = free_block({0x200000000}, 3_MiB);
  Block third = free_block({0x300000000}, 3_MiB + 512_B);
  Block other = free_block({0x400000000}, 5_MiB);
};

// ---- P1: which blocks are in which index ----

TEST(Saboteur, P1_AFreeBlockInNoIndex) {
  SmallHeap small;
  small.hole.share->index.erase(small.hole);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_ALiveBlockInAnIndex) {
  SmallHeap small;
  small.a.share->index.insert(small.a);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_AFreeBlockInTheIndexOfAnotherStream) {
  SmallHeap small;
  small.hole.share->index.erase(small.hole);
  small.spare.share->index.insert(small.hole);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_AFreeBlockInTheIndexOfAnotherPool) {
  SmallHeap small;
  small.hole.share->index.erase(small.hole);
  small.c.share->index.insert(small.hole);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_AFreeBlockInTwoIndexes) {
  SmallHeap small;
  small.spare.share->index.insert(small.hole);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_AStrangerInTheStead) {
  SmallHeap small;
  Block stranger = small.hole;
  small.hole.share->index.erase(small.hole);
  small.hole.share->index.insert(stranger);
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_AFreeBlockThatNamesAForeignIndex) {
  SmallHeap small;
  small.hole.share = small.spare.share;
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_ALiveBlockThatNamesAForeignIndex) {
  SmallHeap small;
  Block& full = small.handed_out({stream_1, 20_MiB});
  ASSERT_EQ(broken_in(small.heap), Ids{});
  full.share = small.a.share;
  EXPECT_EQ(broken_in(small.heap), Ids{"P1"});
}

TEST(Saboteur, P1_APendingBlockInAnIndex) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  small.a.share->index.insert(small.a);
  EXPECT_EQ(broken_in(small.heap), (Ids{"P1", "U2"}));
}

// ---- P2: the order ----

TEST(SmallIndex, IsSound) {
  const SmallIndex small;
  EXPECT_EQ(broken_in(small.index), Ids{});
  EXPECT_EQ(check_free_index(small.index),
            (std::vector<const Block*>{&small.first, &small.second, &small.third, &small.other}));
}

TEST(Saboteur, P2_ABlockInTheBinOfAnotherSize) {
  SmallIndex small;
  small.other.size = 7_MiB;
  EXPECT_EQ(broken_in(small.index), Ids{"P2"});
}

TEST(Saboteur, P2_ASizeChangedInAHeapsIndex) {
  SmallHeap small;
  small.rest.size = 1_MiB;  // A search that trusted the order would meet this block without end.
  EXPECT_TRUE(contains(broken_in(small.heap), "P2"));
}

TEST(Saboteur, P2_SizesOutOfOrder) {
  SmallIndex small;
  std::swap(small.first.size, small.third.size);
  EXPECT_EQ(broken_in(small.index), Ids{"P2"});
}

TEST(Saboteur, P2_AgesOutOfOrder) {
  SmallIndex small;
  small.first.registration_counter = 2;
  EXPECT_EQ(broken_in(small.index), Ids{"P2"});
}

TEST(Saboteur, P2_AddressesOutOfOrder) {
  SmallIndex small;
  std::swap(small.first.ptr, small.second.ptr);
  EXPECT_EQ(broken_in(small.index), Ids{"P2"});
}

TEST(Saboteur, P2_TwoBlocksThatAreEqual) {
  SmallIndex small;
  small.second.ptr = small.first.ptr;
  EXPECT_EQ(broken_in(small.index), Ids{"P2"});
}

TEST(Saboteur, P2_ARingOfLinks) {
  SmallIndex left;
  left.other.index_left = &left.other;
  EXPECT_EQ(broken_in(left.index), Ids{"P2"});
  SmallIndex right;
  right.other.index_right = &right.other;
  EXPECT_EQ(broken_in(right.index), Ids{"P2"});
}

// ---- P3: the bits ----

constexpr std::size_t bin_of_other = FreeIndex::bin_of(5_MiB);

TEST(Saboteur, P3_AnEmptyBinWithABit) {
  SmallIndex small;
  flip_bit(small.index, bin_of_other + 1);
  ASSERT_EQ((bin_of_other + 1) / 64, bin_of_other / 64);
  EXPECT_EQ(broken_in(small.index), Ids{"P3"});
}

TEST(Saboteur, P3_ABinInUseWithoutABit) {
  SmallIndex small;
  flip_bit(small.index, bin_of_other);
  EXPECT_EQ(broken_in(small.index), Ids{"P3"});
}

TEST(Saboteur, P3_BitAndSummaryLost) {
  SmallHeap small;
  FreeIndex& index = small.spare.share->index;
  const std::size_t bin = FreeIndex::bin_of(small.spare.size);
  flip_bit(index, bin);
  flip_summary_bit(index, bin / 64);
  EXPECT_EQ(broken_in(index), Ids{"P3"});
  EXPECT_EQ(broken_in(small.heap), Ids{"P3"});
}

TEST(Saboteur, P3_ASummaryThatForgetsAWord) {
  SmallIndex small;
  flip_summary_bit(small.index, bin_of_other / 64);
  EXPECT_EQ(broken_in(small.index), Ids{"P3"});
}

TEST(Saboteur, P3_ASummaryOfAnEmptyWord) {
  SmallIndex small;
  flip_summary_bit(small.index, 0);
  EXPECT_EQ(broken_in(small.index), Ids{"P3"});
}

TEST(Saboteur, P3_BitsOfBinsAndWordsThatThereAreNot) {
  SmallIndex bins;
  flip_bit(bins.index, FreeIndex::bin_count);
  flip_summary_bit(bins.index, FreeIndex::bin_count / 64);
  EXPECT_EQ(broken_in(bins.index), Ids{"P3"});
  SmallIndex words;
  flip_summary_bit(words.index, FreeIndex::word_count);
  EXPECT_EQ(broken_in(words.index), Ids{"P3"});
}

// ---- P4: the live table by itself ----

std::size_t slot_of(const LiveTable& table, const Block& block) {
  std::size_t i = 0;
  while (table.slot(i) != &block) ++i;
  return i;
}

TEST(Saboteur, P4_AnEntryFarFromItsHome) {
  SmallHeap small;
  auto& slots = small.live().*pointer_to(Slots{});
  const std::size_t home = slot_of(small.live(), small.a);
  std::size_t elsewhere = (home + slots.size() / 2) % slots.size();
  while (small.live().slot(elsewhere) != nullptr) ++elsewhere;
  std::swap(slots[home], slots[elsewhere]);
  EXPECT_EQ(broken_in(small.live()), Ids{"P4"});
  EXPECT_TRUE(contains(broken_in(small.heap), "P4"));
}

TEST(Saboteur, P4_ABlockListedTwice) {
  SmallHeap small;
  small.live().insert(small.a);
  EXPECT_EQ(broken_in(small.live()), Ids{"P4"});
  EXPECT_TRUE(contains(broken_in(small.heap), "P4"));
}

TEST(Saboteur, P4_TwoBlocksUnderOneAddress) {
  SmallHeap small;
  Block twin = small.a;
  small.live().insert(twin);
  EXPECT_EQ(broken_in(small.live()), Ids{"P4"});
  EXPECT_TRUE(contains(broken_in(small.heap), "P4"));
}

TEST(Saboteur, P4_AnEntryThatIsNotCounted) {
  SmallHeap small;
  --(small.live().*pointer_to(Count{}));
  EXPECT_EQ(broken_in(small.live()), Ids{"P4"});
  EXPECT_TRUE(contains(broken_in(small.heap), "P4"));
}

TEST(Saboteur, P4_ATableMoreThanHalfFull) {
  const Recorder dropped;
  LiveTable table;
  std::vector<Block> blocks(table.capacity() / 2 + 1);
  Address next = large_begin;
  for (Block& block : blocks) {
    EXPECT_EQ(broken_in(table), Ids{});
    block.ptr = next;
    next = next + 512_B;
    table.insert(block);
  }
  EXPECT_EQ(broken_in(table), Ids{"P4"});
}

// ---- P6, P7: shares and searches ----

TEST(Saboteur, P6_AShareThatCountsASegmentTooMany) {
  SmallHeap small;
  ++writable(small.heap.pool(PoolKind::small)).find_share(stream_0)->segments;
  EXPECT_EQ(broken_in(small.heap), Ids{"P6"});
}

TEST(Saboteur, P6_AShareThatCountsASegmentTooFew) {
  SmallHeap small;
  --writable(small.heap.pool(PoolKind::large)).find_share(stream_1)->segments;
  EXPECT_EQ(broken_in(small.heap), Ids{"P6"});
}

// Only the name of a stream that ended may stand in another lane.
TEST(Saboteur, P8_AStreamInTheLaneOfAnother) {
  constexpr StreamId other{7};
  static_assert(!is_retired(other));
  SmallHeap small;
  ASSERT_NE(lane_of(other), lane_of(stream_1));
  small.heap.retire_stream({0, stream_1}, other);
  EXPECT_EQ(broken_in(small.heap), Ids{"P8"});
}

TEST(Saboteur, P7_ABlockThatBecameFreeAtALaterSearch) {
  Options options;
  options.garbage_collection_threshold = 0.5;
  SmallHeap small(options);
  small.hole.gc_count_base = 1;
  EXPECT_EQ(broken_in(small.heap), Ids{"P7"});
  small.heap.set_limited(true);
  EXPECT_EQ(small.heap.allocate({StreamId{2}, 2_MiB}), nullptr);
  EXPECT_EQ(broken_in(small.heap), Ids{});
}

// ---- P5: the live table and the blocks ----

TEST(Saboteur, P5_ALiveBlockThatIsNotListed) {
  SmallHeap small;
  small.live().erase(small.a);
  EXPECT_EQ(broken_in(small.heap), Ids{"P5"});
}

TEST(Saboteur, P5_AFreeBlockThatIsListed) {
  SmallHeap small;
  small.live().insert(small.hole);
  EXPECT_EQ(broken_in(small.heap), Ids{"P5"});
}

TEST(Saboteur, P5_APendingBlockThatIsListed) {
  SmallHeap small;
  small.heap.free_after_events(small.a, 1);
  small.live().insert(small.a);
  EXPECT_EQ(broken_in(small.heap), Ids{"P5"});
}

TEST(Saboteur, P5_AnotherBlockInTheStead) {
  SmallHeap small;
  Block stranger = small.a;
  small.live().erase(small.a);
  small.live().insert(stranger);
  EXPECT_EQ(broken_in(small.heap), Ids{"P5"});
}

TEST(Saboteur, P5_ALiveBlockUnderAnotherAddress) {
  SmallHeap small;
  Block moved = small.a;
  moved.ptr = moved.ptr + 512_B;
  small.live().erase(small.a);
  small.live().insert(moved);
  EXPECT_EQ(broken_in(small.heap), Ids{"P5"});
}

}  // namespace
}  // namespace cairn::invariants
