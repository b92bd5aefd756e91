// Host threads in Programs.
#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>

#include "base/thread_number.h"
#include "testing/host_threads.h"
#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

TEST(HostThreads, EachNumberIsAThreadUntilItsEnd) {
  HostThreads threads;
  const auto id_of = [&](int thread) {
    std::uint64_t number = 0;
    threads.run(thread, [&] { number = this_thread_number(); });
    return number;
  };
  EXPECT_EQ(id_of(0), this_thread_number());
  const std::uint64_t first = id_of(1);
  EXPECT_NE(first, this_thread_number());
  EXPECT_NE(id_of(2), first);
  EXPECT_EQ(id_of(1), first);
  threads.end(1);
  threads.end(3);
  EXPECT_NE(id_of(1), first);
}

TEST(HostThreads, WhatATaskThrowsIsThrownToTheCaller) {
  HostThreads threads;
  EXPECT_THROW(threads.run(1, [] { throw std::runtime_error("x"); }), std::runtime_error);
  bool ran = false;
  threads.run(1, [&] { ran = true; });
  EXPECT_TRUE(ran);
}

TEST(WorldThreads, ThePerThreadStreamIsEachThreadsOwn) {
  holds(
      "alloc a 1MiB ptds\nfree a\nT1: alloc b 1MiB ptds\nexpect addr(b) != addr(a)\n"
      "expect stream(a) == ptds\nT1: expect stream(b) == ptds\nexpect stream(b) != ptds\n"
      "T1: free b\nT1: alloc c 1MiB ptds\nexpect addr(c) == addr(b)\n");
}

TEST(WorldThreads, ALaterThreadOfTheNumberIsAnother) {
  holds(
      "T1: alloc a 1MiB ptds\nT1: free a\nT1: exit\nT1: alloc b 1MiB ptds\n"
      "expect addr(b) != addr(a)\nexpect stream(b) != stream(a)\nT2: exit\n");
}

TEST(WorldThreads, AnotherThreadsStreamIsFencedThroughItsContext) {
  holds(
      "alloc a 1MiB s1\nT1: use a ptds\nT1: launch ptds a 10\nfree a\n"
      "expect calls(ctx_record) == 1\nexpect calls(event_record) == 0\nexpect events(a) == 1\n"
      "advance 10\npoll\nexpect events(a) == 0\n");
  holds(
      "alloc a 1MiB s1\nT1: use a ptds\nT1: launch ptds a 10\nT1: free a\n"
      "expect calls(ctx_record) == 0\nexpect calls(event_record) == 1\n");
}

TEST(WorldThreads, MemoryOfAThreadThatEndedGoesBackAfterItsWork) {
  holds(
      "T1: alloc a 1MiB ptds\nT1: launch ptds a 10\nT1: free a\nT1: exit\nempty_cache\n"
      "expect reserved == 0\nexpect calls(device_sync) == 1\n");
}

TEST(WorldThreads, EachHasItsOwnCurrentDevice) {
  holds(
      "gpu 1\nT1: device 1\nT1: alloc a 1MiB\nT2: alloc b 1MiB\nexpect reserved == 2MiB\n"
      "expect reserved@1 == 2MiB\nT1: poll\nT1: memory_fraction 0.5\nT1: sync\n");
}

}  // namespace
}  // namespace cairn::testing
