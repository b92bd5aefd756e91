// What other threads do while an allocation waits for the driver without the lock; foretold by the
// model in phases.
#include <gtest/gtest.h>

#include <string>

#include "testing/play.h"
#include "testing/printer.h"
#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

const std::string unlocked = "gpu 0 memory=100MiB\nconf release_lock_on_cudamalloc:True\n";

TEST(WorldDuring, OthersAllocateFreeAndLook) {
  holds(
      unlocked +
      "alloc a 2MiB s1\nduring malloc at=1 {\nfree a\npoll\nalloc b 2MiB s1\nT1: alloc c 2MiB s1\n"
      "expect segments == 1\n}\nalloc d 30MiB s1\nexpect segments == 2\nexpect calls(malloc) == 2\n"
      "expect addr(b) == addr(a)\nexpect live_blocks == 3\n");
}

TEST(WorldDuring, ItCountsTheCallsFromThereOn) {
  holds(unlocked +
        "alloc a 30MiB s1\nduring malloc at=2 {\nalloc b 1MiB s2\n}\nalloc c 20MiB s1\n"
        "expect live_blocks == 2\nalloc d 30MiB s1\nexpect live_blocks == 4\n");
}

TEST(WorldDuring, SeveralCountTheSameCalls) {
  const std::string two =
      "during malloc at=1 {\nfree a\n}\nduring malloc at=2 {\nalloc b 2MiB s1\n}\n";
  holds(unlocked + "alloc a 2MiB s1\n" + two +
        "alloc c 30MiB s1\nexpect live_blocks == 1\nalloc d 30MiB s1\nexpect live_blocks == 3\n");
  // Of one request: the cache is given back after the first call failed.
  holds(unlocked + "alloc a 2MiB s1\nfault malloc at=1 error=out_of_memory\n" + two +
        "alloc c 30MiB s1\nexpect calls(malloc) == 4\nexpect live_blocks == 2\n");
  holds(unlocked +
        "during malloc at=1 {\nalloc a 1MiB s1\n}\nduring malloc at=1 {\nfree a\n}\n"
        "alloc c 30MiB s1\nexpect live_blocks == 1\n");
}

TEST(WorldDuring, ItIsAMistakeUnderTheLock) {
  mistaken("during malloc at=1 {\npoll\n}\nalloc a 1MiB\n", 1, "under the lock");
  mistaken(unlocked + "alloc a 2MiB s1\nfree a\nduring free at=1 {\npoll\n}\nempty_cache\n", 5,
           "under the lock");
}

TEST(WorldDuring, ItIsAMistakeWhereTheCallIsNeverMade) {
  mistaken(unlocked + "during malloc at=2 {\npoll\n}\nalloc a 1MiB\n", 3, "never made");
}

TEST(WorldDuring, WhatFailsInItMustBeExpected) {
  const std::string full = unlocked + "during malloc at=1 {\nalloc b 200MiB s2";
  ends(full + "\n}\nalloc a 2MiB\n", Verdict::violated, 4, "success");
  holds(full + " -> out_of_memory\n}\nalloc a 2MiB\nexpect ooms == 1\n");
  mistaken(full + " -> out_of_memory\nfree nobody\n}\nalloc a 2MiB\n", 5, "not known");
}

TEST(WorldDuring, ALimitCountsWhatIsAskedFor) {
  holds(unlocked +
        "memory_fraction 0.5\nduring malloc at=1 {\nalloc b 22MiB s2 -> out_of_memory\n}\n"
        "alloc a 30MiB s1\nalloc c 20MiB s1\nexpect reserved == 50MiB\n");
}

TEST(WorldDuring, TheCacheMayBeEmptiedAndAStreamEnd) {
  holds(unlocked +
        "alloc a 20MiB s1\nfree a\nduring malloc at=1 {\nempty_cache\nalloc b 1MiB s2\n}\n"
        "alloc c 30MiB s1\nexpect segments == 2\n");
  holds(unlocked +
        "alloc a 20MiB s1\nfree a\nduring malloc at=1 {\ndestroy_stream s1\n}\n"
        "alloc c 30MiB s1\nexpect segments == 2\n");
}

// What came is not enough by then, and stays cached.
TEST(WorldDuring, SettingsMayChangeWhatIsNeeded) {
  holds(unlocked +
        "during malloc at=1 {\nreconfigure roundup_power2_divisions:2\n}\nalloc a 18MiB s1\n"
        "expect calls(malloc) == 2\nexpect segments == 2\nexpect size(a) == 24MiB\n");
}

TEST(WorldDuring, ADeviceMayBeLostMeanwhile) {
  holds(unlocked +
        "alloc a 20MiB s1\nfree a\nfault stream_sync at=1 error=illegal_address sticky\n"
        "during malloc at=1 {\nempty_cache -> cuda_error\n}\nalloc b 30MiB s2 -> cuda_error\n"
        "expect live_blocks == 0\n");
}

// After a no of the driver the request finds what another gave back meanwhile.
TEST(WorldDuring, TheRungsGoOnWithWhatThereIsThen) {
  holds(unlocked +
        "alloc a 30MiB s1\nfault malloc at=1 error=out_of_memory\nduring malloc at=1 {\nfree a\n}\n"
        "alloc b 30MiB s1\nexpect addr(b) == addr(a)\nexpect calls(malloc) == 2\n");
}

TEST(WorldDuring, ADriverMayBeAskedWhichStreamItIs) {
  holds(
      "conf stream_identity:id\nalloc a 1MiB s1\nduring stream_id at=1 {\nfree a\nalloc b 1MiB s0\n"
      "}\nalloc c 1MiB s1\nexpect addr(c) == addr(a)\n");
}

TEST(Play, LeavesOutDuringsWhoseCallNeverComesOrIsLocked) {
  const auto program =
      parse_program("during malloc at=1 {\npoll\n}\nalloc a 1MiB\nduring malloc at=9 {\npoll\n}\n");
  ASSERT_TRUE(program);
  const Played played = play(*program);
  EXPECT_EQ(played.result.kind, StepResult::Kind::ok);
  EXPECT_EQ(print_program(played.as_it_went), "alloc a 1MiB\n");
}

TEST(Play, WritesDownHowABodyWent) {
  const auto program = parse_program(
      unlocked +
      "during malloc at=1 {\nfree nobody\nalloc b 200MiB s2\nT1: poll\n}\nalloc a 2MiB\n");
  ASSERT_TRUE(program);
  const Played played = play(*program);
  EXPECT_EQ(print_program(played.as_it_went),
            unlocked +
                "during malloc at=1 {\n  alloc b 200MiB s2 -> out_of_memory\n  T1: poll\n}\n"
                "alloc a 2MiB\n");
  EXPECT_EQ(run(played.as_it_went).verdict, Verdict::holds);
}

TEST(WorldParallel, IsForTheProgramSchedules) {
  unsupported("parallel {\npoll\n}\n", 1, "schedules");
  unsupported("schedule 0 1\n", 1, "schedules");
}

}  // namespace
}  // namespace cairn::testing
