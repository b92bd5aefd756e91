#include "testing/op_decoder.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "testing/op_values.h"
#include "testing/printer.h"

namespace cairn::testing {
namespace {

using TapeSetup = Setup;  // GoogleTest's fixtures have a Setup of their own.

Op op_of(OpKind kind) {
  Op op;
  op.kind = kind;
  return op;
}

// What the operation says, each statement done as it says; "|" between them.
std::string say(OpDecoder& decoder, const Op& op) {
  std::string text;
  decoder.begin(op);
  while (const auto statement = decoder.next()) {
    text += (text.empty() ? "" : "|") + print_statement(*statement);
    decoder.done(*statement, true);
  }
  return text;
}

// A decoder under way: one block, a0, of 512 bytes on s1, where nothing else is said.
class Said : public ::testing::Test {
 protected:
  explicit Said(const TapeSetup& setup = {}) : decoder_(setup) {
    decoder_.declarations();
    Op alloc = op_of(OpKind::alloc);
    alloc.amount = size_code(Bytes{512});
    EXPECT_EQ(say(alloc), "alloc a0 512 s1");
  }
  std::string say(const Op& op) { return cairn::testing::say(decoder_, op); }
  std::string say(OpKind kind) { return say(op_of(kind)); }

  OpDecoder decoder_;
};

class SaidWide : public Said {
 protected:
  static TapeSetup wide() {
    TapeSetup setup;
    setup.devices = 1;
    setup.threads = 1;
    setup.stream_devices = 0b010000;  // s3 is on device 1.
    setup.switches = setup_switch::default_streams;
    return setup;
  }
  SaidWide() : Said(wide()) {}
};

TEST(OpDecoder, declares_what_the_setup_says) {
  TapeSetup setup;
  setup.devices = 1;
  setup.memory = {8 + 2, 0, 0};
  setup.places = 0b0110;
  setup.streams = 1;
  setup.blocking = 0b0010;
  setup.stream_devices = 0b00000100;
  setup.split = 1;
  setup.rounding = 3;
  setup.divisions = 4;
  setup.switches = setup_switch::tie_by_address | setup_switch::identity;
  setup.segment = 0x81;
  Program declared{OpDecoder(setup).declarations()};
  EXPECT_EQ(print_program(declared),
            "gpu 0 memory=66MiB reuse_addresses\n"
            "gpu 1 memory=16MiB adjacent\n"
            "conf max_split_size_mb:20,max_non_split_rounding_mb:22,"
            "roundup_power2_divisions:[1:2,2:8,>:4],best_fit_tie:address,stream_identity:id\n"
            "segment 0x210000000000 14MiB large s0 gpu=1\n"
            "block i0 3584KiB\n"
            "block i1 3584KiB\n"
            "block - 3584KiB\n"
            "block i3 3584KiB\n"
            "stream s1 gpu=0\n"
            "stream s2 gpu=1 blocking\n"
            "stream s3 gpu=0\n"
            "stream s4 gpu=0\n");
  setup.switches |= setup_switch::pytorch_defects;  // To which a stream is its handle.
  EXPECT_EQ(settings_of(setup),
            "max_split_size_mb:20,max_non_split_rounding_mb:22,"
            "roundup_power2_divisions:[1:2,2:8,>:4],best_fit_tie:address,pytorch_defects:True");
}

TEST_F(Said, alloc) {
  Op op = op_of(OpKind::alloc);
  op.amount = size_code(Bytes{4096});
  op.stream = 1;
  op.variant = 2;
  EXPECT_EQ(say(op), "alloc a1 4KiB s2 align=4KiB");
}

TEST_F(SaidWide, alloc_on_another_device_by_another_thread) {
  Op op = op_of(OpKind::alloc);
  op.thread = 1;
  op.device = 1;
  op.stream = 2;  // s3, s0, ptds
  EXPECT_EQ(say(op), "T1: device 1|T1: alloc a1 1 ptds");
  EXPECT_EQ(say(op), "T1: alloc a2 1 ptds") << "it is the current device by now";
}

TEST_F(Said, alloc_of_one_block_too_many_is_a_free) {
  for (int i = 0; i < 63; ++i) EXPECT_TRUE(say(OpKind::alloc).starts_with("alloc "));
  EXPECT_EQ(say(OpKind::alloc), "free a0");
}

TEST_F(Said, free) {
  EXPECT_EQ(say(OpKind::free), "free a0");
  EXPECT_EQ(say(OpKind::free), "alloc a1 1 s1") << "where nothing is live";
}

TEST_F(Said, free_in_all_its_ways) {
  const std::string ways[] = {"free a0",           "free a0 on s2",
                              "free a0 on s2",     "free a0 size=512",
                              "free a0 stream=s1", "free a0 size=512 stream=s1"};
  for (std::uint8_t way = 0; way < 6; ++way) {
    OpDecoder decoder = decoder_;
    Op op = op_of(OpKind::free);
    op.variant = way;
    op.other = 1;
    EXPECT_EQ(cairn::testing::say(decoder, op), ways[way]);
  }
}

TEST_F(Said, blocks_by_their_place_among_the_live_ones) {
  for (int i = 0; i < 3; ++i) say(OpKind::alloc);
  const std::pair<std::uint16_t, std::string> places[] = {
      {0, "a0"}, {0x3fff, "a0"}, {0x4000, "a1"}, {0x8000, "a2"}, {0xffff, "a3"}};
  for (const auto& [block, name] : places) {
    OpDecoder decoder = decoder_;
    Op op = op_of(OpKind::free);
    op.block = block;
    EXPECT_EQ(cairn::testing::say(decoder, op), "free " + name);
  }
}

TEST_F(Said, launch) {
  Op op = op_of(OpKind::launch);
  op.amount = 3;
  EXPECT_EQ(say(op), "launch s1 a0 100");
  op.variant = 8;
  EXPECT_EQ(say(op), "launch s1 a0:r 100");
  op.variant = 1;
  op.stream = 1;
  EXPECT_EQ(say(op), "launch s1 a0 100") << "on its own stream";
}

TEST_F(Said, launch_elsewhere_only_what_is_ordered_after_the_stream_of_the_block) {
  for (std::uint32_t luck = 0; luck < 200; ++luck) {
    OpDecoder decoder = decoder_;
    Op op = op_of(OpKind::launch);
    op.stream = 1;
    op.luck = luck;
    const std::string text = cairn::testing::say(decoder, op);
    EXPECT_TRUE(text == "order s1 s2|launch s2 a0 0" || text == "sync s1|launch s2 a0 0" ||
                text.empty())
        << text;
  }
}

TEST_F(Said, free_only_after_word_of_all_that_touched_it) {
  Op launch = op_of(OpKind::launch);
  launch.stream = 1;
  while (!say(launch).ends_with("launch s2 a0 0")) ++launch.luck;
  for (std::uint32_t luck = 0; luck < 200; ++luck) {
    OpDecoder decoder = decoder_;
    Op op = op_of(OpKind::free);
    op.luck = luck;
    const std::string text = cairn::testing::say(decoder, op);
    EXPECT_TRUE(text == "free a0 on s2" || text == "order s2 s1|free a0" ||
                text == "use a0 s2|free a0" || text == "sync s2|free a0" || text.empty())
        << text;
  }
}

TEST_F(Said, use) {
  Op op = op_of(OpKind::use);
  op.stream = 2;
  EXPECT_EQ(say(op), "use a0 s3");
  say(OpKind::free);
  op.variant = 15;
  EXPECT_EQ(say(op), "use a0 s3") << "though it is freed";
}

TEST_F(SaidWide, order) {
  Op op = op_of(OpKind::order);  // Of s1, s2, s0, ptds.
  op.other = 1;
  EXPECT_EQ(say(op), "order s1 s2");
  op.other = 0;
  EXPECT_EQ(say(op), "order s1 s2") << "not of a stream with itself: the next one";
  op.variant = 3;
  EXPECT_EQ(say(op), "order s1 s3") << "a stream of the next device";
}

TEST_F(SaidWide, sync) {
  Op op = op_of(OpKind::sync);
  op.stream = 1;
  EXPECT_EQ(say(op), "sync s2");
  op.variant = 3;
  op.device = 1;
  op.thread = 1;
  EXPECT_EQ(say(op), "T1: sync gpu=1");
}

TEST_F(SaidWide, sync_of_a_default_stream_on_its_device) {
  Op op = op_of(OpKind::sync);
  op.stream = 1;
  op.device = 1;
  EXPECT_EQ(say(op), "device 1|sync s0");
}

TEST_F(Said, advance) {
  Op op = op_of(OpKind::advance);
  op.amount = 2;
  EXPECT_EQ(say(op), "advance 10");
}

TEST_F(Said, bad_free) {
  const std::string live[] = {
      "free null", "free 0x1234",      "free 0x1234",          "free 0x1234",
      "free a0+8", "free a0 size=513", "free a0 stream=other", "free 0x1234"};
  for (std::uint8_t way = 0; way < 8; ++way) {
    OpDecoder decoder = decoder_;
    Op op = op_of(OpKind::bad_free);
    op.variant = way;
    op.amount = 7;
    EXPECT_EQ(cairn::testing::say(decoder, op), live[way]);
  }
  say(OpKind::free);
  Op again = op_of(OpKind::bad_free);
  again.variant = 2;
  EXPECT_EQ(say(again), "free a0");
  again.variant = 1;
  again.other = 1;
  EXPECT_EQ(say(again), "free a0 on s2");
}

TEST_F(SaidWide, poll) {
  Op op = op_of(OpKind::poll);
  EXPECT_EQ(say(op), "poll");
  op.device = 1;
  EXPECT_EQ(say(op), "device 1|poll");
}

TEST_F(SaidWide, empty_cache) {
  Op op = op_of(OpKind::empty_cache);
  EXPECT_EQ(say(op), "empty_cache");
  op.thread = 3;
  EXPECT_EQ(say(op), "T1: empty_cache");
}

TEST_F(Said, fault) {
  Op op = op_of(OpKind::fault);
  op.variant = 0b0110;
  EXPECT_EQ(say(op), "fault malloc at=3 error=out_of_memory count=2");
  op.variant = 0xf0;
  EXPECT_EQ(say(op), "fault malloc at=1 error=out_of_memory") << "nothing lasts";
}

TEST(OpDecoder, faults_last_where_devices_may_be_lost) {
  TapeSetup setup;
  setup.switches = setup_switch::lost_devices;
  OpDecoder decoder(setup);
  Op op = op_of(OpKind::fault);
  op.variant = 0xf0;
  EXPECT_EQ(say(decoder, op), "fault malloc at=1 error=out_of_memory sticky");
  op.variant = 0xe0;
  EXPECT_EQ(say(decoder, op), "fault malloc at=1 error=out_of_memory count=forever");
}

TEST_F(Said, make_stream_and_destroy_stream) {
  Op make = op_of(OpKind::make_stream);
  EXPECT_EQ(say(make), "destroy_stream s1") << "there are as many as may be";
  make.variant = 1;
  EXPECT_EQ(say(make), "stream s4 gpu=0 blocking");
  Op destroy = op_of(OpKind::destroy_stream);
  destroy.variant = 3;
  EXPECT_EQ(say(destroy), "destroy_stream s2 unannounced");
  make.variant = 4;
  EXPECT_EQ(say(make), "stream s5 gpu=0");
}

TEST_F(Said, make_stream_with_the_handle_of_a_dead_one) {
  Op destroy = op_of(OpKind::destroy_stream);
  say(destroy);
  Op make = op_of(OpKind::make_stream);
  make.variant = 2;
  EXPECT_EQ(say(make), "stream s4 gpu=0 reuse=s1");
  destroy.variant = 3;
  EXPECT_EQ(say(destroy), "destroy_stream s2 unannounced");
  make.variant = 0;
  EXPECT_EQ(say(make), "sync gpu=0|stream s5 gpu=0 reuse=s2")
      << "both are one to the allocator, so nothing of the first is left";
}

TEST_F(Said, alloc_on_a_dead_stream) {
  Op destroy = op_of(OpKind::destroy_stream);
  destroy.variant = 3;
  destroy.stream = 1;
  say(destroy);
  Op op = op_of(OpKind::alloc);
  op.variant = 7;
  EXPECT_EQ(say(op), "alloc a1 1 s2");
}

TEST_F(SaidWide, memory_fraction) {
  Op op = op_of(OpKind::memory_fraction);
  op.amount = 25;
  op.device = 1;
  EXPECT_EQ(say(op), "memory_fraction 0.25 gpu=1");
  op.amount = 100;
  EXPECT_EQ(say(op), "memory_fraction 1 gpu=1");
}

TEST_F(Said, reconfigure) { EXPECT_TRUE(say(OpKind::reconfigure).starts_with("reconfigure ")); }

TEST_F(SaidWide, set_device) {
  Op op = op_of(OpKind::set_device);
  op.device = 1;
  op.thread = 1;
  EXPECT_EQ(say(op), "T1: device 1");
}

TEST_F(SaidWide, thread_exit) {
  EXPECT_EQ(say(OpKind::thread_exit), "T1: exit");
  EXPECT_EQ(say(OpKind::thread_exit), "T4: exit") << "the one that came in its place";
}

TEST_F(Said, reset) {
  Op op = op_of(OpKind::reset);
  EXPECT_EQ(say(op), "reset peak");
  op.variant = 1;
  EXPECT_EQ(say(op), "reset accumulated");
}

TEST_F(Said, nothing_more_of_a_plan_that_failed) {
  Op launch = op_of(OpKind::launch);
  launch.stream = 1;
  decoder_.begin(launch);
  const auto order = decoder_.next();
  ASSERT_EQ(print_statement(*order), "order s1 s2");
  decoder_.done(*order, false);
  EXPECT_FALSE(decoder_.next());
}

TEST_F(Said, nothing_of_a_block_that_was_not_allocated) {
  decoder_.begin(op_of(OpKind::alloc));
  decoder_.done(*decoder_.next(), false);
  EXPECT_EQ(decoder_.state().live().size(), 1U);
}

TEST_F(Said, stuck_after_many_failed_allocations) {
  for (int i = 0; i < 40; ++i) {
    EXPECT_FALSE(decoder_.is_stuck());
    decoder_.begin(op_of(OpKind::alloc));
    decoder_.done(*decoder_.next(), false);
  }
  EXPECT_TRUE(decoder_.is_stuck());
}

TEST_F(Said, mistakes_only_of_what_is_freed) {
  Statement use;
  use.operation = Use{"a0", "s1"};
  EXPECT_FALSE(decoder_.may_be_mistaken(use));
  say(OpKind::free);
  EXPECT_TRUE(decoder_.may_be_mistaken(use));
}

}  // namespace
}  // namespace cairn::testing
