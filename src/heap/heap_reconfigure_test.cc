// Settings that change while blocks are out.
#include <gtest/gtest.h>

#include "heap/heap_in_test.h"

namespace cairn {
namespace {

using namespace literals;

Options with_max_split(Bytes max_split) {
  Options options;
  options.max_split_size_bytes = max_split.count;
  return options;
}

TEST(HeapReconfigure, WhatIsOversizeIsCountedAnew) {
  HeapInTest heap(with_max_split(50_MiB));
  heap.allocate(50_MiB);
  heap.allocate(30_MiB);
  heap.free(heap.allocate(40_MiB));
  heap.free_after_events(heap.allocate(46_MiB), 1);
  ASSERT_EQ(heap.stats().oversize_allocations, (Stat{1, 1, 1, 0}));
  ASSERT_EQ(heap.stats().oversize_segments, (Stat{1, 1, 1, 0}));

  heap.reconfigure(with_max_split(30_MiB));  // Two live blocks, and four segments.
  EXPECT_EQ(heap.stats().max_split_size_bytes, (30_MiB).count);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{2, 2, 2, 0}));
  EXPECT_EQ(heap.stats().oversize_segments, (Stat{4, 4, 4, 0}));

  heap.reconfigure({});
  EXPECT_EQ(heap.stats().max_split_size_bytes, Options::unlimited);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{0, 2, 2, 2}));
  EXPECT_EQ(heap.stats().oversize_segments, (Stat{0, 4, 4, 4}));
}

// PyTorch would count one more freed than there were.
TEST(HeapReconfigure, ABlockThatIsNoLongerOversizeGoesQuietly) {
  HeapInTest heap(with_max_split(20_MiB));
  const Address a = heap.allocate(30_MiB);
  heap.reconfigure(with_max_split(40_MiB));
  heap.free(a);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{0, 1, 1, 1}));
}

// V8: it is taken off as the new settings say, though it was never counted; and they do not show.
TEST(HeapReconfigure, WithPyTorchsDefectsNothingIsCountedAnew) {
  const auto with_defects = [](Bytes max_split) {
    Options options = with_max_split(max_split);
    options.pytorch_defects = true;
    return options;
  };
  HeapInTest heap(with_defects(50_MiB));
  const Address counted = heap.allocate(50_MiB);
  const Address other = heap.allocate(30_MiB);
  heap.reconfigure(with_defects(20_MiB));
  EXPECT_EQ(heap.stats().max_split_size_bytes, (50_MiB).count);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(heap.stats().oversize_segments, (Stat{1, 1, 1, 0}));
  heap.free(other);
  heap.free(counted);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{-1, 1, 1, 2}));
  heap.remove_segment(other);
  heap.remove_segment(counted);
  EXPECT_EQ(heap.stats().oversize_segments, (Stat{-1, 1, 1, 2}));
  heap.allocate(20_MiB);
  EXPECT_EQ(heap.stats().oversize_allocations, (Stat{0, 1, 2, 2}));
}

TEST(HeapReconfigure, DecisionsAreThoseOfTheNewSettings) {
  HeapInTest heap;
  EXPECT_EQ(heap->segment_size({s0, 5_MiB}), 20_MiB);
  Options options = with_max_split(64_MiB);
  options.large_segment_size_bytes = (32_MiB).count;
  options.roundup_power2_divisions.fill(4);
  heap.reconfigure(options);
  EXPECT_EQ(heap->segment_size({s0, 5_MiB}), 32_MiB);
  EXPECT_EQ(heap->segment_size({s0, 65_MiB}), 80_MiB);
  heap.free(heap.allocate(100_MiB));
  EXPECT_EQ(heap.cached({s0, 20_MiB}), Address{});  // Oversize serves oversize alone.
}

TEST(HeapReconfigure, TheThresholdOfGarbageFollows) {
  HeapInTest heap;
  heap.free(heap.allocate(20_MiB));
  Options options;
  options.garbage_collection_threshold = 0.5;
  heap.reconfigure(options);
  EXPECT_EQ(heap->garbage(40_MiB).size(), 0U);
  options.garbage_collection_threshold = 0.25;
  heap.reconfigure(options);
  EXPECT_EQ(heap->garbage(40_MiB).size(), 1U);
}

// Free blocks stand in that order already.
TEST(HeapReconfigure, TheTieOfBestFitStays) {
  HeapInTest heap;
  heap.next_segment_at(Address{0x7f0000000000});
  const Address older = heap.fresh({s0, 20_MiB});
  heap.next_segment_at(Address{0x7e0000000000});
  const Address lower = heap.fresh({s0, 20_MiB});
  heap.free(lower);
  Options options;
  options.best_fit_tie = BestFitTie::address;
  heap.reconfigure(options);
  heap.free(older);
  EXPECT_EQ(heap.cached({s0, 20_MiB}), older);
}

}  // namespace
}  // namespace cairn
