// Short memory, limits, settings that change, lost devices, and the end, in Programs.
#include <gtest/gtest.h>

#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

TEST(WorldPressure, AFractionLimitsADevice) {
  holds(
      "gpu 0 memory=100MiB\nmemory_fraction 0.5\nalloc a 40MiB\nalloc b 20MiB -> out_of_memory\n"
      "expect oom(limit) == 50MiB\nexpect oom(total) == 100MiB\nexpect oom(free) == 60MiB\n"
      "expect oom(tried) == 20MiB\nexpect oom(allocated) == 40MiB\nexpect calls(malloc) == 1\n"
      "memory_fraction 1\nalloc b 20MiB\nmemory_fraction 1.5 -> invalid_argument\n"
      "memory_fraction -0.5 -> invalid_argument\n");
}

TEST(WorldPressure, ARejectionIsToldInNumbersToo) {
  holds(
      "gpu 0 memory=100MiB\nconf throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5\n"
      "memory_fraction 1\nalloc a 40MiB\nalloc b 20MiB -> rejected\nexpect rejections == 1\n"
      "expect ooms == 0\nexpect oom(tried) == 20MiB\nexpect oom(limit) == 100MiB\n");
}

TEST(WorldPressure, QuantitiesThatTheDriverDidNotSayMeanNothing) {
  mistaken(
      "gpu 0 memory=32MiB\nfault mem_info at=1 error=unknown\nalloc a 64MiB -> out_of_memory\n"
      "expect oom(tried) == 64MiB\nexpect oom(total) == 32MiB\n",
      5, "oom(total) means nothing");
}

TEST(WorldPressure, PendingMemoryIsWaitedForBeforeARequestFails) {
  holds(
      "gpu 0 memory=32MiB\nalloc a 20MiB s1\nuse a s2\nlaunch s2 a 10\nfree a\n"
      "alloc b 20MiB s1\nexpect addr(b) == addr(a)\nexpect syncs == 1\nexpect retries == 0\n");
}

TEST(WorldPressure, OldSegmentsAreCollectedAboveTheThreshold) {
  holds(
      "gpu 0 memory=100MiB\nconf garbage_collection_threshold:0.5,per_process_memory_fraction:0.9\n"
      "alloc a 20MiB s1\nalloc b 20MiB s2\nalloc c 20MiB s3\nfree a\nfree b\n"
      "alloc d 20MiB s4\nexpect reserved == 40MiB\n");
}

TEST(WorldPressure, SettingsChangeWhileTheProgramRuns) {
  holds(
      "reconfigure max_split_size_mb:32\nreconfigure throw_on_cudamalloc_oom:True\n"
      "reconfigure no_such_key:1 -> invalid_argument\n"
      "reconfigure max_split_size_mb:x -> invalid_argument\n"
      "reconfigure expandable_segments:True -> unsupported\n"
      "reconfigure best_fit_tie:address -> unsupported\nalloc a 1\n");
}

TEST(WorldPressure, ALostDeviceKeepsItsBookkeeping) {
  holds(
      "gpu 0 memory=1GiB\ngpu 1 memory=1GiB\nalloc a 1MiB s1\nalloc b 1MiB s1\nuse a s2\n"
      "launch s2 a 10\nfault event_record at=1 error=illegal_address sticky\n"
      "free a -> cuda_error\nexpect live_blocks == 2\nreset calls\n"
      "alloc c 1MiB s1 -> cuda_error\npoll -> cuda_error\nempty_cache -> cuda_error\n"
      "free a\nexpect pending_blocks == 0\nfree b\n"
      "expect calls(malloc) + calls(event_query) + calls(event_record) + calls(free) == 0\n"
      "device 1\nalloc c 1MiB\nfree c\n");
}

// ---- the end ----

void ends_well(const std::string& text) {
  const Program program = *parse_program(text);
  World world(program);
  const auto is_fine = [](const StepResult& result) {
    return result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed;
  };
  for (const Statement& statement : program.statements) {
    const StepResult result = world.step(statement);
    ASSERT_TRUE(is_fine(result)) << text << result.expected << "\n" << result.found << result.why;
  }
  for (const auto& last : {&World::finish, &World::wind_down, &World::end}) {
    const StepResult result = (world.*last)();
    ASSERT_EQ(result.kind, StepResult::Kind::ok) << text << result.expected << "\n"
                                                 << result.found << "\n"
                                                 << result.why;
  }
}

TEST(WorldEnd, NothingIsLeft) {
  ends_well("");
  ends_well(
      "gpu 1\nsegment 0x7e0000000000 20MiB large s1\nblock w 4MiB\nblock - 16MiB\n"
      "alloc a 1MiB s1\nuse a s2\nlaunch s2 a 10\nT1: use a ptds\nfree a\nalloc b 1MiB s3\n"
      "use b s2\nlaunch s3 b 100\nT1: device 1\nT1: alloc c 3MiB ptds\nT1: launch ptds c 7\n"
      "use c s2\nT1: exit\nalloc d 1 s4\nuse b s4\ndestroy_stream s4\n"
      "destroy_stream s2 unannounced\n");
  ends_well("fault free at=1 error=unknown count=forever\nalloc a 1\nfree a\nempty_cache\n");
}

TEST(WorldEnd, OfALostDeviceWhatIsPromisedIsLeft) {
  const std::string devices = "gpu 0 memory=1GiB\ngpu 1 memory=1GiB\ngpu 2 memory=1GiB\n";
  ends_well(devices +
            "T1: device 1\nT2: device 2\nalloc a 1\nT1: alloc b 1MiB s1\nT2: alloc c 1\n"
            "T1: use b s2\nT1: launch s2 b 10\nT1: free b\nT1: alloc d 1 s1\n"
            "fault event_query at=1 error=launch_failed sticky\nT1: poll\nfree a\nT2: free c\n");
}

}  // namespace
}  // namespace cairn::testing
