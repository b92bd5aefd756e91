#include "testing/import_rewind.h"

#include <gtest/gtest.h>

#include "testing/printer.h"

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT
using Action = RecordedEvent::Action;
constexpr Address base{0x7e0000000000};

RecordedEvent event(Action action, Bytes offset, Bytes size) {
  return {action, 0, 0, base + offset, size, "line 7"};
}

// A recording that ends with one segment of 20 MiB, of a free block up to `live_from` and a live
// one.
Recording ending(Bytes live_from, PoolKind pool = PoolKind::large) {
  RecordedSegment segment{0, base, 20_MiB, pool, 0, {}};
  segment.blocks = {{base, live_from, std::nullopt, BlockState::inactive},
                    {base + live_from, 20_MiB - live_from, 1_B, BlockState::active_allocated}};
  Recording recording;
  recording.final = {segment};
  return recording;
}

std::string start_of(const Recording& recording) {
  const auto rewound = rewind(recording);
  if (!rewound) return to_string(rewound.error());
  std::string text;
  for (const RecordedSegment& segment : rewound->initial) {
    text += "segment";
    for (const RecordedBlock& block : segment.blocks) {
      text += (block.state == BlockState::inactive ? " free " : " live ") + print_size(block.size);
    }
  }
  return text + (rewound->assumed_sizes > 0 ? " assumed" : "");
}

TEST(ImportRewind, AGapOfUpToOneMiBBelongsToTheBlockBefore) {
  Recording recording = ending(5_MiB);
  recording.events = {event(Action::free_completed, 0_B, 4_MiB)};
  EXPECT_EQ(start_of(recording), "segment live 5MiB live 15MiB");
}

TEST(ImportRewind, ALargerGapIsTakenForAFreeBlock) {
  Recording recording = ending(6_MiB);
  recording.events = {event(Action::free_completed, 0_B, 4_MiB)};
  EXPECT_EQ(start_of(recording), "segment live 4MiB free 2MiB live 14MiB assumed");
}

TEST(ImportRewind, AnAllocationShowsWhereTheBlockBeforeItEnds) {
  Recording recording = ending(12_MiB);
  recording.events = {event(Action::alloc, 4608_KiB, 2_MiB),
                      event(Action::free_completed, 4608_KiB, 2_MiB),
                      event(Action::free_completed, 0_B, 4_MiB)};
  EXPECT_EQ(start_of(recording), "segment live 4608KiB free 7680KiB live 8MiB");
}

TEST(ImportRewind, SmallBlocksTakeTheirRoundedSize) {
  Recording recording = ending(1_MiB, PoolKind::small);
  recording.events = {event(Action::free_completed, 0_B, 1000_B)};
  EXPECT_EQ(start_of(recording), "segment live 1KiB free 1023KiB live 19MiB");
  recording.events = {event(Action::alloc, 8_KiB, 512_B), event(Action::free_completed, 8_KiB, 1_B),
                      event(Action::free_completed, 0_B, 1000_B)};  // Placed there by address.
  EXPECT_EQ(start_of(recording), "segment live 1KiB free 1023KiB live 19MiB");
}

TEST(ImportRewind, BlocksOfMaxSplitSizeTakeAllThereIs) {
  Recording recording = ending(12_MiB);
  recording.settings.max_split_size = 4_MiB;
  recording.events = {event(Action::free_completed, 0_B, 4_MiB)};
  EXPECT_EQ(start_of(recording), "segment live 12MiB live 8MiB");
}

TEST(ImportRewind, SegmentsComeAndGoBackwards) {
  Recording recording = ending(4_MiB);
  recording.events = {event(Action::segment_free, 1_GiB, 2_MiB),
                      event(Action::segment_alloc, 0_B, 20_MiB),
                      event(Action::alloc, 4_MiB, 16_MiB)};
  EXPECT_EQ(start_of(recording), "segment free 2MiB");
}

TEST(ImportRewind, RefusesATraceThatDoesNotEndInTheMap) {
  const auto refusal = [](RecordedEvent last) {
    Recording recording = ending(4_MiB);
    recording.events = {std::move(last)};
    return start_of(recording);
  };
  const std::string at_0 = "line 7: does not fit what follows it: at 0x7e0000000000 ";
  EXPECT_EQ(refusal(event(Action::alloc, 0_B, 1_MiB)), at_0 + "there is no live block");
  EXPECT_EQ(refusal(event(Action::free_completed, 4_MiB, 1_MiB)),
            "line 7: does not fit what follows it: at 0x7e0000400000 a block is still live");
  EXPECT_EQ(refusal(event(Action::free_completed, 0_B, 0_B)), at_0 + "is no block of such a size");
  EXPECT_EQ(refusal(event(Action::segment_alloc, 0_B, 2_MiB)),
            at_0 + "there is no segment of this size");
  EXPECT_EQ(refusal(event(Action::segment_alloc, 0_B, 20_MiB)),
            at_0 + "the segment has blocks from before it was made");
  EXPECT_EQ(refusal(event(Action::segment_free, 0_B, 2_MiB)), at_0 + "there is another segment");
  EXPECT_EQ(refusal(event(Action::free_completed, 0_B, 5_MiB)),
            "the live blocks of the segment at 0x7e0000000000 overlap when the events are undone");
}

}  // namespace
}  // namespace cairn::testing
