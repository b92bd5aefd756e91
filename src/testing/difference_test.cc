#include "testing/difference.h"

#include <gtest/gtest.h>

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

BlockMap two_segments() {
  SegmentInfo small;
  small.address = 0x200000;
  small.size_bytes = 2 * mib;
  small.blocks = {{0x200000, 512, 100, BlockState::active_allocated},
                  {0x200200, 2 * mib - 512, 7, BlockState::inactive}};
  SegmentInfo large;
  large.address = 0x800000;
  large.size_bytes = 20 * mib;
  large.stream = 0x5000;
  large.is_large = true;
  large.blocks = {{0x800000, 20 * mib, 0, BlockState::inactive}};
  return {small, large};
}

void differs(const BlockMap& changed, const std::string& expected, const std::string& found) {
  const auto difference = compare(two_segments(), changed);
  ASSERT_TRUE(difference.has_value()) << found;
  EXPECT_EQ(difference->expected, expected);
  EXPECT_EQ(difference->found, found);
}

TEST(Difference, EqualMapsHaveNone) {
  EXPECT_FALSE(compare(two_segments(), two_segments()).has_value());
  EXPECT_FALSE(compare(BlockMap{}, BlockMap{}).has_value());
}

TEST(Difference, TheLastRequestOfAFreeBlockDoesNotCount) {
  BlockMap changed = two_segments();
  changed[0].blocks[1].requested_size_bytes = 0;
  EXPECT_FALSE(compare(two_segments(), changed).has_value());
}

TEST(Difference, TheFirstBlockThatDiffersIsNamed) {
  const std::string where = " in segment 0x200000 2MiB small, stream 0x0, device 0";
  const std::string block = "block 0x200000 512 active_allocated, requested 100" + where;
  BlockMap changed = two_segments();
  changed[0].blocks[0].requested_size_bytes = 101;
  differs(changed, block, "block 0x200000 512 active_allocated, requested 101" + where);
  changed = two_segments();
  changed[0].blocks[0].size_bytes = 1024;
  differs(changed, block, "block 0x200000 1KiB active_allocated, requested 100" + where);
  changed = two_segments();
  changed[0].blocks[0].state = BlockState::active_pending_free;
  differs(changed, block, "block 0x200000 512 active_pending_free, requested 100" + where);
  changed = two_segments();
  changed[0].blocks.pop_back();
  differs(changed, "block 0x200200 2096640 inactive" + where, "no more blocks" + where);
}

TEST(Difference, TheFirstSegmentThatDiffersIsNamed) {
  const std::string segment = "segment 0x800000 20MiB large, stream 0x5000, device 0";
  BlockMap changed = two_segments();
  changed[1].is_large = false;
  differs(changed, segment, "segment 0x800000 20MiB small, stream 0x5000, device 0");
  changed = two_segments();
  changed[1].stream = 0;
  differs(changed, segment, "segment 0x800000 20MiB large, stream 0x0, device 0");
  changed.pop_back();
  differs(changed, segment, "no more segments");
}

TEST(Difference, TheFirstStatisticThatDiffersIsNamed) {
  DeviceStats changed;
  EXPECT_FALSE(compare(DeviceStats{}, changed).has_value());
  changed.num_ooms = 3;
  EXPECT_EQ(compare(DeviceStats{}, changed)->found, "num_ooms: 3");
  changed.oversize_segments.peak = 2;
  EXPECT_EQ(compare(DeviceStats{}, changed)->found,
            "oversize_segments: current 0, peak 2, allocated 0, freed 0");
  changed.reserved_bytes.large_pool.current = 5;
  EXPECT_EQ(compare(DeviceStats{}, changed)->found,
            "reserved_bytes.large_pool: current 5, peak 0, allocated 0, freed 0");
  DeviceStats limited;
  limited.max_split_size_bytes = 5;
  EXPECT_EQ(compare(DeviceStats{}, limited)->found, "max_split_size: 5");
}

}  // namespace
}  // namespace cairn::testing
