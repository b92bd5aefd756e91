#include "testing/import_recording.h"

#include <gtest/gtest.h>

#include "simulator/address_space.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT
using Action = RecordedEvent::Action;
constexpr Address base{0x7e0000000000};

RecordedEvent event(Action action, Bytes offset, Bytes size) {
  return {action, 0, 0, base + offset, size, "line 7"};
}

RecordedSegment segment(std::vector<RecordedBlock> blocks, PoolKind pool = PoolKind::large) {
  RecordedSegment made{0, blocks.front().address, 0_B, pool, 0, blocks};
  for (const RecordedBlock& block : blocks) made.size += block.size;
  return made;
}

RecordedBlock live(Bytes offset, Bytes size) {
  return {base + offset, size, size - 1_B, BlockState::active_allocated};
}
RecordedBlock idle(Bytes offset, Bytes size) {
  return {base + offset, size, std::nullopt, BlockState::inactive};
}

std::string text_of(const Recording& recording) {
  const auto imported = program_of(recording);
  return imported ? print_program(imported->program) : to_string(imported.error());
}

TEST(ImportRecording, BecomesAProgramThatExpectsEveryAddressAndTheMap) {
  Recording recording;
  recording.best_fit_tie = "address";
  recording.initial = {segment({live(0_B, 4_MiB), idle(4_MiB, 16_MiB)})};
  recording.events = {
      event(Action::free_requested, 0_B, 4_MiB), event(Action::free_completed, 0_B, 4_MiB),
      event(Action::segment_alloc, 1_GiB, 32_MiB), event(Action::alloc, 1_GiB, 32_MiB - 1_B)};
  recording.events.back().stream = 77;
  recording.final = {segment({idle(0_B, 20_MiB)}), segment({live(1_GiB, 32_MiB)})};
  recording.final->back().stream = 77;
  EXPECT_EQ(text_of(recording),
            "gpu 0 memory=80GiB\n"
            "conf best_fit_tie:address\n"
            "segment 0x7e0000000000 20MiB large s0\n"
            "block w1 4MiB\n"
            "block - 16MiB\n"
            "free w1\n"
            "next_segment 0x7e0040000000\n"
            "alloc a1 33554431 s1 = 0x7e0040000000\n"
            "expect_segment 0x7e0000000000 20MiB large s0\n"
            "expect_block 20MiB inactive\n"
            "expect_segment 0x7e0040000000 32MiB large s1\n"
            "expect_block 32MiB active_allocated requested=33554431\n"
            "expect segments == 2\n");
}

TEST(ImportRecording, SegmentsGoToTheAllocationsThatTheyWereMadeFor) {
  Recording recording;  // Two threads may ask the driver before either gets its block.
  recording.events = {event(Action::segment_alloc, 0_B, 32_MiB),
                      event(Action::segment_alloc, 1_GiB, 40_MiB),
                      event(Action::alloc, 1_GiB, 30_MiB), event(Action::alloc, 0_B, 32_MiB),
                      event(Action::alloc, 1_GiB + 30_MiB, 2_MiB)};
  EXPECT_EQ(text_of(recording),
            "gpu 0 memory=80GiB\n"
            "next_segment 0x7e0040000000\n"
            "alloc a1 30MiB = 0x7e0040000000\n"
            "next_segment 0x7e0000000000\n"
            "alloc a2 32MiB = 0x7e0000000000\n"
            "alloc a3 2MiB = 0x7e0041e00000\n");
}

TEST(ImportRecording, ARunOfReleasesIsOneEmptyCacheAndANoteWhereItWasNotAll) {
  Recording recording;
  for (const Bytes offset : {0_B, 1_GiB, 2_GiB}) {
    recording.initial.push_back(segment({idle(offset, 20_MiB)}));
  }
  recording.events = {event(Action::segment_free, 0_B, 20_MiB),
                      event(Action::segment_free, 2_GiB, 20_MiB)};
  const auto imported = program_of(recording);
  ASSERT_TRUE(imported);
  EXPECT_EQ(print_statement(imported->program.statements.back()), "empty_cache");
  ASSERT_EQ(imported->report.notes.size(), 1U);
  EXPECT_EQ(imported->report.notes[0],
            "line 7: of 3 idle segments the recording gives back 2, empty_cache all; from here on "
            "the Program may differ");
}

TEST(ImportRecording, ABlockThatWaitsAtTheEndStaysAllocated) {
  Recording recording;
  RecordedBlock pending = live(0_B, 20_MiB);
  recording.initial = {segment({pending})};
  pending.state = BlockState::active_pending_free;
  recording.final = {segment({pending})};
  const auto imported = program_of(recording);
  ASSERT_TRUE(imported);
  const auto& statements = imported->program.statements;
  EXPECT_EQ(print_statement(statements[statements.size() - 2]),
            "expect_block 20MiB active_allocated");
  EXPECT_EQ(imported->report.skipped.at("free_requested without free_completed"), 1U);
}

TEST(ImportRecording, DevicesAreDeclaredAndSelected) {
  Recording recording;
  RecordedSegment far = segment({idle(0_B, 100_GiB)});
  far.device = 1;
  recording.initial = {far};
  recording.final = recording.initial;
  recording.events = {event(Action::alloc, 0_B, 100_GiB), event(Action::free_completed, 0_B, 1_B)};
  recording.events[0].device = recording.events[1].device = 1;
  EXPECT_EQ(text_of(recording),
            "gpu 0 memory=80GiB\n"
            "gpu 1 memory=100GiB\n"
            "segment 0x7e0000000000 100GiB large s0 gpu=1\n"
            "block - 100GiB\n"
            "device 1\n"
            "alloc a1 100GiB = 0x7e0000000000\n"
            "free a1\n"
            "expect_segment 0x7e0000000000 100GiB large s0 gpu=1\n"
            "expect_block 100GiB inactive\n"
            "expect segments == 0\n"
            "expect segments@1 == 1\n");
}

TEST(ImportRecording, TheDeviceHoldsWhatTheSegmentsTakeAtATime) {
  Recording recording;
  for (int i = 0; i < 20; ++i) {
    recording.events.push_back(event(Action::segment_alloc, 0_B, 100_GiB));
    recording.events.push_back(event(Action::segment_free, 0_B, 100_GiB));
  }
  EXPECT_EQ(text_of(recording).substr(0, 20), "gpu 0 memory=100GiB\n");
  recording.events = {event(Action::segment_alloc, 0_B, 1024_GiB),
                      event(Action::segment_alloc, 2048_GiB, 2_MiB)};
  EXPECT_EQ(text_of(recording), "the segments of device 0 take more than 1 TiB");
}

TEST(ImportRecording, RefusesEventsThatCannotBe) {
  const auto refusal = [](std::vector<RecordedEvent> events) {
    Recording recording;
    recording.initial = {segment({live(0_B, 4_MiB), idle(4_MiB, 16_MiB)})};
    recording.events = std::move(events);
    return text_of(recording);
  };
  EXPECT_EQ(refusal({event(Action::alloc, 0_B, 1_MiB)}),
            "line 7: alloc gives 0x7e0000000000, which is still live");
  EXPECT_EQ(refusal({event(Action::alloc, 20_MiB, 1_MiB)}),
            "line 7: alloc gives 0x7e0001400000, which is in no segment");
  EXPECT_EQ(refusal({event(Action::alloc, 4_MiB, 0_B)}), "line 7: alloc asks for 0 bytes");
  EXPECT_EQ(refusal({event(Action::free_completed, 4_MiB, 1_MiB)}),
            "line 7: frees 0x7e0000400000, which is not live");
  EXPECT_EQ(refusal({event(Action::segment_alloc, 18_MiB, 20_MiB)}),
            "line 7: the segment at 0x7e0001200000 overlaps another");
  EXPECT_EQ(refusal({event(Action::segment_free, 0_B, 20_MiB)}),
            "line 7: the segment at 0x7e0000000000 is given back, but holds live blocks");
  EXPECT_EQ(refusal({event(Action::segment_free, 1_GiB, 20_MiB)}),
            "line 7: the segment at 0x7e0040000000 is given back, but there is none");
}

TEST(ImportRecording, AMapIsTiledAndApart) {
  const auto refusal = [](const RecordedMap& map) {
    const auto error = check_map(map, "map");
    return error ? to_string(*error) : "good";
  };
  EXPECT_EQ(refusal({segment({live(0_B, 1_MiB), idle(1_MiB, 1_MiB)})}), "good");
  EXPECT_EQ(refusal({segment({live(0_B, 1_MiB), idle(2_MiB, 1_MiB)})}),
            "map[0]: the segment at 0x7e0000000000 is not the sum of its blocks");
  EXPECT_EQ(refusal({segment({idle(0_B, 1_MiB), idle(1_MiB, 1_MiB)})}),
            "map[0]: the segment at 0x7e0000000000 has two free blocks side by side");
  EXPECT_EQ(refusal({segment({live(1_MiB, 2_MiB)}), segment({live(0_B, 2_MiB)})}),
            "map[1]: the segment at 0x7e0000000000 overlaps another");
  EXPECT_EQ(refusal({segment({live(1_B, 2_MiB)})}),
            "map[0]: the segment at 0x7e0000000001 has no possible address and size");
  const Address top = simulator::address_limit;
  for (const Address begin : {Address{0}, Address{top.value - (1 << 20)}, top}) {
    RecordedSegment strange = segment({idle(0_B, 2_MiB)});
    strange.address = strange.blocks[0].address = begin;
    EXPECT_NE(refusal({strange}), "good");
  }
}

}  // namespace
}  // namespace cairn::testing
