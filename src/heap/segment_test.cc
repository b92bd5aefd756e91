// The chain of a segment's blocks under split and merge.
#include "heap/segment.h"

#include <gtest/gtest.h>

#include <string>

#include "heap/block_pool.h"
#include "heap/lane.h"

namespace cairn {
namespace {

using namespace literals;

constexpr Address base{0x7e0000000000};

class SegmentTest : public testing::Test {
 protected:
  SegmentTest() {
    segment_.span = {base, 8_KiB};
    segment_.stream = StreamId{7};
    segment_.pool = &pool_;
    segment_.registration_counter = 5;
    slots_.reserve(8);
    Block& block = slots_.make();
    block.ptr = base;
    block.size = 8_KiB;
    block.segment = &segment_;
    block.pool = &pool_;
    block.stream = StreamId{7};
    block.share = &pool_.make_share(StreamId{7}, lane_);
    block.registration_counter = 5;
    block.device = 3;
    segment_.first = &block;
  }

  // Offsets and sizes in granules, in order of the chain: "0+4 4+12".
  std::string chain() const {
    std::string text;
    const Block* last = nullptr;
    for (const Block* block = segment_.first; block != nullptr; block = block->next) {
      EXPECT_EQ(block->prev, last);
      if (last != nullptr) text += " ";
      text += std::to_string((block->ptr - base).count / 512) + "+" +
              std::to_string(block->size.count / 512);
      last = block;
    }
    return text;
  }

  Lane lane_;
  BlockPool pool_{PoolKind::small, {}};
  Segment segment_;
  NodePool<Block> slots_;
};

TEST_F(SegmentTest, IsWholeUntilItIsSplit) {
  EXPECT_TRUE(segment_.is_whole());
  EXPECT_FALSE(segment_.first->is_split());
  split_lower(*segment_.first, 512_B, slots_);
  EXPECT_FALSE(segment_.is_whole());
  EXPECT_TRUE(segment_.first->is_split());
  EXPECT_TRUE(segment_.first->next->is_split());
}

TEST_F(SegmentTest, TheLowerPartIsNewAndTheOldBlockKeepsTheUpper) {
  Block& block = *segment_.first;
  Block& lower = split_lower(block, 2_KiB, slots_);
  EXPECT_NE(&lower, &block);
  EXPECT_EQ(chain(), "0+4 4+12");
  EXPECT_EQ(segment_.first, &lower);
  EXPECT_EQ(lower.next, &block);
}

TEST_F(SegmentTest, TheNewBlockIsOfItsSegmentAndFree) {
  Block& block = *segment_.first;
  block.allocated = true;
  block.requested_size = 5000_B;
  const Block& lower = split_lower(block, 512_B, slots_);
  EXPECT_EQ(lower.segment, &segment_);
  EXPECT_EQ(lower.pool, &pool_);
  EXPECT_EQ(lower.stream, StreamId{7});
  EXPECT_EQ(lower.registration_counter, 5U);
  EXPECT_EQ(lower.device, 3);
  EXPECT_TRUE(lower.mapped);
  EXPECT_FALSE(lower.allocated);
  EXPECT_EQ(lower.requested_size, 0_B);
}

TEST_F(SegmentTest, ABlockInTheMiddleIsSplit) {
  Block& top = *segment_.first;
  split_lower(top, 2_KiB, slots_);
  Block& middle = split_lower(top, 4_KiB, slots_);
  ASSERT_EQ(chain(), "0+4 4+8 12+4");
  split_lower(middle, 512_B, slots_);
  EXPECT_EQ(chain(), "0+4 4+1 5+7 12+4");
}

TEST_F(SegmentTest, AbsorbsTheNeighbourBelow) {
  Block& top = *segment_.first;
  split_lower(top, 2_KiB, slots_);
  Block& middle = split_lower(top, 4_KiB, slots_);
  absorb_prev(middle, slots_);  // It is the segment's first block now.
  EXPECT_EQ(chain(), "0+12 12+4");
  EXPECT_EQ(segment_.first, &middle);
  absorb_prev(top, slots_);
  EXPECT_EQ(chain(), "0+16");
  EXPECT_EQ(segment_.first, &top);
  EXPECT_TRUE(segment_.is_whole());
}

TEST_F(SegmentTest, AbsorbsTheNeighbourAbove) {
  Block& top = *segment_.first;
  Block& low = split_lower(top, 2_KiB, slots_);
  Block& middle = split_lower(top, 4_KiB, slots_);
  absorb_next(low, slots_);
  EXPECT_EQ(chain(), "0+12 12+4");
  EXPECT_EQ(low.next, &top);
  absorb_next(low, slots_);
  EXPECT_EQ(chain(), "0+16");
  EXPECT_NE(&middle, &low);
}

TEST_F(SegmentTest, AnAbsorbedSlotIsUsedAgain) {
  Block& block = *segment_.first;
  Block& lower = split_lower(block, 2_KiB, slots_);
  absorb_prev(block, slots_);
  EXPECT_EQ(&split_lower(block, 4_KiB, slots_), &lower);
}

}  // namespace
}  // namespace cairn
