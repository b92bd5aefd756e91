// Which segments the garbage collection gives back: examples worked by hand.
#include <gtest/gtest.h>

#include <vector>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

using Addresses = std::vector<Address>;

Options with_threshold(double threshold) {
  Options options;
  options.garbage_collection_threshold = threshold;
  return options;
}

// A heap whose searches count. Segments become free at chosen ages.
class AgingHeap : public HeapInTest {
 public:
  explicit AgingHeap(double threshold) : HeapInTest(with_threshold(threshold)) {
    (*this)->set_limited(true);
  }
  // Lets all that is free in the large pool, or the small one, grow older.
  void search(int times, Bytes size = 2_MiB) {
    for (int i = 0; i < times; ++i) EXPECT_EQ(cached({unused_, size}), Address{});
  }
  Addresses garbage(Bytes limit) {
    Addresses addresses;
    for (const Segment* segment : (*this)->garbage(limit)) addresses.push_back(segment->span.begin);
    return addresses;
  }
  BlockPool& large() { return const_cast<BlockPool&>((*this)->pool(PoolKind::large)); }

 private:
  const StreamId unused_{0x99};
};

// Four segments of 20 MiB, of ages 9, 6, 3 and 2 in the order in which they were made.
struct FourAges : AgingHeap {
  explicit FourAges(double threshold) : AgingHeap(threshold) {
    for (Address& address : at) address = fresh({s0, 20_MiB});
    const int searches_after[]{3, 3, 1, 2};
    for (int i = 0; i < 4; ++i) {
      free(at[static_cast<std::size_t>(i)]);
      search(searches_after[i]);
    }
  }
  Addresses at = Addresses(4);
};

// 80 MiB are held, 50 may be: 30 to give back. The ages sum to 20, the average is 5.
TEST(HeapGarbage, OnePassTakesWhatIsNotBelowTheAverageAge) {
  FourAges heap(0.5);
  EXPECT_EQ(heap.garbage(100_MiB), (Addresses{heap.at[0], heap.at[1]}));
}

// 65 to give back: after 40 MiB the ages left are 3 and 2, the average is 2.5.
TEST(HeapGarbage, PassesGoOnUntilTheTargetIsMet) {
  FourAges heap(0.15);
  EXPECT_EQ(heap.garbage(100_MiB), (Addresses{heap.at[0], heap.at[1], heap.at[2], heap.at[3]}));
}

// 45 to give back: a second pass, and no third.
TEST(HeapGarbage, TheLastPassIsTheOneThatMeetsTheTarget) {
  FourAges heap(0.35);
  EXPECT_EQ(heap.garbage(100_MiB), (Addresses{heap.at[0], heap.at[1], heap.at[2]}));
}

// One byte more than the first pass takes.
TEST(HeapGarbage, TheTargetIsMetToTheByte) {
  FourAges heap(0.5);
  EXPECT_EQ(heap.garbage(80_MiB), (Addresses{heap.at[0], heap.at[1]}));
  EXPECT_EQ(heap.garbage(80_MiB - 2_B), (Addresses{heap.at[0], heap.at[1], heap.at[2]}));
}

TEST(HeapGarbage, APassDoesNotStopAtTheTarget) {
  AgingHeap heap(0.5);
  Addresses at(3);
  for (Address& address : at) address = heap.fresh({s0, 20_MiB});
  for (const Address address : at) heap.free(address);
  EXPECT_EQ(heap.garbage(100_MiB), at);  // Of one age, though 10 MiB would do.
}

TEST(HeapGarbage, NothingUpToTheThreshold) {
  AgingHeap heap(0.5);
  heap.free(heap.allocate(20_MiB));
  EXPECT_EQ(heap.garbage(40_MiB), Addresses{});
  EXPECT_EQ(heap.garbage(40_MiB - 2_B).size(), 1U);
}

// Half a byte above 20 MiB is 20 MiB, half a byte below is a byte less.
TEST(HeapGarbage, TheThresholdIsCutToWholeBytes) {
  AgingHeap heap(0.5);
  heap.free(heap.allocate(20_MiB));
  EXPECT_EQ(heap.garbage(40_MiB + 1_B), Addresses{});
  EXPECT_EQ(heap.garbage(40_MiB - 1_B).size(), 1U);
}

// Ages 2 and 1: the average is 1.5, not 1.
TEST(HeapGarbage, TheAverageIsNoWholeNumber) {
  AgingHeap heap(0.5);
  const Address younger = heap.fresh({s0, 20_MiB});
  const Address older = heap.fresh({s0, 20_MiB});
  heap.free(older);
  heap.search(1);
  heap.free(younger);
  heap.search(1);
  EXPECT_EQ(heap.garbage(78_MiB), Addresses{older});
}

TEST(HeapGarbage, StandsInOrderOfStreamSizeAndAge) {
  AgingHeap heap(0.1);
  const Address s2_small = heap.fresh({s2, 20_MiB});
  const Address s1_large = heap.fresh({s1, 40_MiB});
  heap.next_segment_at(Address{0x7f0000000000});
  const Address s1_old = heap.fresh({s1, 30_MiB});
  heap.next_segment_at(Address{0x7d0000000000});
  const Address s1_young = heap.fresh({s1, 30_MiB});
  for (const Address a : {s1_young, s2_small, s1_large, s1_old}) heap.free(a);
  EXPECT_EQ(heap.garbage(10_MiB), (Addresses{s1_old, s1_young, s1_large, s2_small}));
}

TEST(HeapGarbage, WholeFreeSegmentsOfTheLargePoolAlone) {
  AgingHeap heap(0.1);
  heap.allocate(20_MiB);
  heap.free_after_events(heap.allocate(20_MiB), 1);
  heap.free(heap.allocate(1_KiB));
  heap.allocate(2_MiB);  // The rest of its segment is free.
  EXPECT_EQ(heap.garbage(10_MiB), Addresses{});
}

TEST(HeapGarbage, WithoutAThresholdNothingIsGarbageNorDoSearchesCount) {
  HeapInTest heap;
  heap->set_limited(true);
  heap.free(heap.allocate(20_MiB));
  EXPECT_TRUE(heap->garbage(1_MiB).empty());
  EXPECT_EQ(heap->pool(PoolKind::large).searches, 0);
  heap.reconfigure(with_threshold(0.5));
  EXPECT_EQ(heap->garbage(1_MiB).size(), 1U);
  heap.allocate(20_MiB);
  EXPECT_EQ(heap->pool(PoolKind::large).searches, 1);
}

// ---- ages ----

TEST(HeapAges, FirstSearchesCountHitsAndMissesInEachPool) {
  HeapInTest heap(with_threshold(0.5));
  const BlockPool& large = heap->pool(PoolKind::large);
  const BlockPool& small = heap->pool(PoolKind::small);
  heap.allocate(20_MiB);
  EXPECT_EQ(large.searches, 0);  // Nobody wants to know.
  heap->set_limited(true);
  heap.free(heap.allocate(20_MiB));
  heap.allocate(20_MiB);
  EXPECT_EQ(large.searches, 2);
  EXPECT_EQ(heap->search_again({s0, 20_MiB}), nullptr);
  EXPECT_EQ(large.searches, 2);
  EXPECT_EQ(small.searches, 0);
  heap.allocate(1_KiB);
  EXPECT_EQ(small.searches, 1);
  heap->set_limited(false);
  heap.allocate(20_MiB);
  EXPECT_EQ(large.searches, 2);
}

TEST(HeapAges, ABlockIsAsOldAsItIsFreeInItsPresentForm) {
  AgingHeap heap(0.5);
  const Address a = heap.fresh({s0, 2_MiB});
  heap.search(5);
  const Address rest = heap.cached({s0, 10_MiB});  // The 6th; cuts what is free.
  EXPECT_EQ(heap->find_live(rest)->next->gc_count_base, 6);
  heap.search(1);
  heap.free(rest);
  heap.search(1);
  heap.free(a);  // Merges.
  EXPECT_EQ(heap->segment_at(a)->first->gc_count_base, 8);
}

TEST(HeapAges, SearchAgainHandsOut) {
  HeapInTest heap;
  const Address a = heap.allocate(20_MiB);
  heap.free(a);
  const Block* block = heap->search_again({s0, 20_MiB});
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->ptr, a);
  EXPECT_EQ(heap.blocks(), "live 20MiB");
}

// 2^31 searches make an age negative, as in PyTorch; then the other block is the older one.
TEST(HeapAges, AreOf32Bits) {
  AgingHeap heap(0.5);
  const Address first = heap.fresh({s0, 20_MiB});
  const Address second = heap.fresh({s0, 20_MiB});
  heap.free(first);
  heap.large().searches += (std::int64_t{1} << 31) - 1;
  heap.free(second);
  EXPECT_EQ(heap.garbage(78_MiB), Addresses{first});
  heap.search(1);
  EXPECT_EQ(heap.garbage(78_MiB), Addresses{second});
}

}  // namespace
}  // namespace cairn
