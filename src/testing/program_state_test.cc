#include "testing/program_state.h"

#include <gtest/gtest.h>

#include <string>

#include "testing/parser.h"

namespace cairn::testing {
namespace {

// The state after a Program that did what it says.
ProgramState after(const std::string& text) {
  ProgramState state;
  const auto program = parse_program(text);
  EXPECT_TRUE(program) << text;
  if (!program) return state;
  for (const Statement& statement : program->statements) state.apply(statement);
  return state;
}

const std::string streams = "stream s1\nstream s2\nstream s3 blocking\nstream d1 gpu=1\n";
const StreamPlace s1{"s1", 0, 0};
const StreamPlace s2{"s2", 0, 0};
const StreamPlace s3{"s3", 0, 0};
const StreamPlace s0{"s0", 0, 0};

TEST(ProgramState, knows_what_is_live_and_what_is_freed) {
  const ProgramState state =
      after(streams + "alloc a 1KiB s1\nalloc b 2KiB s2\nalloc z 0\nfree a\n");
  ASSERT_EQ(state.live().size(), 1U) << "of 0 bytes there is no block";
  EXPECT_EQ(state.live()[0].name, "b");
  EXPECT_EQ(state.live()[0].size, Bytes{2048});
  EXPECT_EQ(state.live()[0].own, s2);
  EXPECT_EQ(state.freed(), std::vector<std::string>{"a"});
}

TEST(ProgramState, knows_the_devices_of_threads_and_of_default_streams) {
  const ProgramState state =
      after(streams + "device 1\nT2: alloc a 1KiB s0\nalloc b 1KiB s0\nT2: alloc c 1KiB ptds\n");
  EXPECT_EQ(state.current_device(0), 1);
  EXPECT_EQ(state.current_device(2), 0);
  EXPECT_EQ(state.live()[0].own, s0);
  EXPECT_EQ(state.live()[1].own, (StreamPlace{"s0", 1, 0}));
  EXPECT_EQ(state.live()[2].own, (StreamPlace{"ptds", 0, 2}));
}

TEST(ProgramState, knows_how_streams_end) {
  const ProgramState state = after(streams +
                                   "destroy_stream s1\ndestroy_stream s2 unannounced\n"
                                   "stream s4 reuse=s1\nT1: exit\nalloc a 1KiB s2\n");
  EXPECT_EQ(state.streams()[0].life, KnownStream::Life::recycled);
  EXPECT_EQ(state.streams()[1].life, KnownStream::Life::unannounced);
  EXPECT_TRUE(state.is_alive({"s4", 0, 0}));
  EXPECT_FALSE(state.is_alive(s1));
  EXPECT_FALSE(state.is_alive({"ptds", 0, 1}));
  EXPECT_TRUE(state.is_alive({"ptds", 0, 0}));
  EXPECT_FALSE(state.may_touch(s3, state.live()[0])) << "its stream was dead already";
}

TEST(ProgramState, lets_a_block_be_touched_in_the_order_of_its_stream) {
  const auto may = [](const StreamPlace& place, const std::string& more) {
    const ProgramState state = after(streams + "alloc a 1KiB s1\n" + more);
    return state.may_touch(place, state.live()[0]);
  };
  EXPECT_TRUE(may(s1, ""));
  EXPECT_FALSE(may(s2, ""));
  EXPECT_TRUE(may(s2, "order s1 s2\n"));
  EXPECT_FALSE(may(s2, "order s2 s1\n"));
  EXPECT_TRUE(may(s3, "order s1 s2\norder s2 s3\n")) << "through another";
  EXPECT_TRUE(may(s2, "sync s1\n"));
  EXPECT_TRUE(may(s2, "sync gpu=0\n"));
  EXPECT_FALSE(may(s2, "sync s2\n"));
  EXPECT_FALSE(may(s2, "sync gpu=1\n"));
}

TEST(ProgramState, knows_whose_work_a_free_must_heed) {
  const auto owed = [](const std::string& more) {
    const ProgramState state =
        after(streams + "alloc a 1KiB s1\norder s1 s2\norder s1 s3\nlaunch s2 a 1\n" + more);
    return state.owed(state.live()[0]);
  };
  using Places = std::vector<StreamPlace>;
  EXPECT_EQ(owed(""), Places{s2});
  EXPECT_EQ(owed("launch s1 a 1\n"), Places{s2}) << "its own stream is no other";
  EXPECT_EQ(owed("launch s3 a 1\n"), (Places{s2, s3}));
  EXPECT_EQ(owed("use a s2\n"), Places{});
  EXPECT_EQ(owed("use a s3\n"), Places{s2});
  EXPECT_EQ(owed("order s2 s1\n"), Places{});
  EXPECT_EQ(owed("order s2 s3\n"), Places{s2});
  EXPECT_EQ(owed("sync s2\n"), Places{});
  EXPECT_EQ(owed("sync gpu=1\n"), Places{s2});
}

TEST(ProgramState, knows_what_the_legacy_stream_orders_by_itself) {
  const ProgramState state = after(streams);
  EXPECT_TRUE(state.is_ordered_by_itself(s0, s3));
  EXPECT_TRUE(state.is_ordered_by_itself(s3, s0));
  EXPECT_FALSE(state.is_ordered_by_itself(s0, s2)) << "it is not blocking";
  EXPECT_FALSE(state.is_ordered_by_itself(s3, s2));
  EXPECT_TRUE(state.is_ordered_by_itself(s0, {"ptds", 0, 1}));
  EXPECT_FALSE(state.is_ordered_by_itself({"s0", 1, 0}, s3)) << "of another device";
  EXPECT_FALSE(after(streams + "destroy_stream s3\n").is_ordered_by_itself(s3, s0));
}

TEST(ProgramState, takes_blocks_of_the_start_for_ready) {
  ProgramState state;
  state.add_initial_block("i0", Bytes{512}, 1);
  EXPECT_EQ(state.live()[0].device, 1);
  EXPECT_TRUE(state.may_touch(s2, state.live()[0]));
}

}  // namespace
}  // namespace cairn::testing
