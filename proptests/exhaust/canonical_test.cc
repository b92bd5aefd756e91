#include "canonical.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "replay.h"
#include "testing/parser.h"

namespace {

using namespace cairn::exhaust;
using cairn::testing::StepResult;
using cairn::testing::World;

const Scope& three_streams() {
  static const Scope scope = {.name = "three",
                              .about = "",
                              .world = "stream s1\nstream s2\nstream s3\n",
                              .streams = 3,
                              .sizes = {}};
  return scope;
}

// The number of the state that the Program leads to.
std::uint64_t after(const std::string& text, bool renames = false) {
  Scope scope = three_streams();
  scope.renames_streams = renames;
  const auto program = cairn::testing::parse_program(std::string(scope.world) + text);
  EXPECT_TRUE(program) << text;
  World world(*program, {});
  for (const auto& statement : program->statements) {
    const StepResult result = world.step(statement);
    EXPECT_EQ(result.kind, StepResult::Kind::ok) << text << result.why << result.found;
  }
  const std::vector<cairn::StreamId> streams = streams_of(scope, world);
  return canonical({scope, world, streams});
}

TEST(Canonical, WhatOnlyAccumulatesDoesNotCount) {
  const std::uint64_t once = after("alloc a 1MiB s1\n");
  EXPECT_EQ(once, after("alloc a 1MiB s1\nfree a\nempty_cache\nalloc z 1MiB s1\n"));
  EXPECT_EQ(once, after("alloc a 1MiB s1\npoll\nadvance 7\nreset peak\n"));
}

TEST(Canonical, OnlyTheOrderOfTimesCounts) {
  const std::string begin = "alloc a 1MiB s1\nuse a s2\nuse a s3\n";
  const std::uint64_t number = after(begin + "launch s2 a 10\nlaunch s3 a 20\n");
  EXPECT_EQ(number, after(begin + "advance 5\nlaunch s2 a 1000\nlaunch s3 a 1001\n"));
  EXPECT_NE(number, after(begin + "launch s2 a 20\nlaunch s3 a 10\n"));
  EXPECT_NE(number, after(begin + "launch s2 a 10\nlaunch s3 a 20\nadvance 10\n"));
}

TEST(Canonical, NamesOfStreamsCountUnlessTheyAreRenamed) {
  const std::string one = "alloc a 1MiB s1\nuse a s2\nlaunch s2 a 5\nfree a\n";
  const std::string other = "alloc b 1MiB s3\nuse b s1\nlaunch s1 b 5\nfree b\n";
  EXPECT_NE(after(one), after(other));
  EXPECT_EQ(after(one, true), after(other, true));
  const std::string unlike = "alloc b 1MiB s3\nuse b s1\nlaunch s3 b 5\nfree b\n";
  EXPECT_NE(after(one, true), after(unlike, true));
}

TEST(Canonical, WhatMattersCounts) {
  const std::string begin = "alloc a 1MiB s1\n";
  const std::vector<std::string> ways = {
      begin,
      "alloc a 1048575 s1\n",
      begin + "alloc b 512 s1\n",
      begin + "alloc b 512 s2\n",
      begin + "use a s2\n",
      begin + "use a s3\n",
      begin + "free a\n",
      begin + "memory_fraction 0.5\n",
      begin + "launch s1 a 5\n",
      begin + "use a s2\nlaunch s2 a 5\n",
      begin + "use a s2\nlaunch s2 a 5\nfree a\n",
      begin + "use a s2\nlaunch s2 a 5\nfree a\nadvance 5\n",
      begin + "use a s2\nlaunch s2 a 5\nfree a\nadvance 5\npoll\n",
      begin +
          "fault event_query at=1 error=illegal_address sticky\nuse a s2\nfree a\n"
          "poll -> cuda_error\n"};
  for (std::size_t i = 0; i < ways.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NE(after(ways[i]), after(ways[j])) << ways[i] << "and\n" << ways[j];
}

}  // namespace
