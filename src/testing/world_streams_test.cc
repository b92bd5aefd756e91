// Streams, kernels and events in Programs.
#include <gtest/gtest.h>

#include "testing/world_in_test.h"

namespace cairn::testing {
namespace {

TEST(WorldStreams, MemoryThatAnotherStreamUsesIsHandedOutAgainWhenThatIsDone) {
  holds(
      "alloc a 1MiB s1\nuse a s2\nlaunch s2 a 10\nfree a\n"
      "expect pending_blocks == 1\nexpect events(a) == 1\nexpect calls(event_record) == 1\n"
      "expect allocated == 0\nexpect active == 1MiB\n"
      "alloc b 1MiB s1\nexpect addr(b) != addr(a)\n"
      "advance 9\npoll\nexpect events(a) == 1\nadvance 1\npoll\n"
      "expect pending_blocks == 0\nexpect events(a) == 0\nexpect active == 1MiB\n"
      "alloc c 1MiB s1\nexpect addr(c) == addr(a)\nlaunch s1 c 5\n");
}

TEST(WorldStreams, AnAllocationLooksAtEventsItself) {
  holds(
      "alloc a 1MiB s1\nuse a s2\nlaunch s2 a 10\nfree a\nadvance 10\n"
      "alloc c 1MiB s1\nexpect addr(c) == addr(a)\nexpect calls(event_query) == 1\n");
}

TEST(WorldStreams, EachUserIsWaitedFor) {
  holds(
      "alloc a 1MiB s1\nuse a s2\nuse a s3\nuse a s3\nuse a s1\n"
      "launch s2 a 3\nlaunch s3 a:r 6\nfree a\nexpect events(a) == 2\n"
      "advance 3\npoll\nexpect events(a) == 1\nadvance 3\npoll\nexpect pending_blocks == 0\n");
}

TEST(WorldStreams, MemoryCanBeFreedOnAnotherStream) {
  holds(
      "alloc a 1MiB s1\nlaunch s2 a 10\nfree a on s2\nexpect events(a) == 1\n"
      "alloc b 1MiB s1\nexpect addr(b) != addr(a)\nfree null on s2\n"
      "sync s2\npoll\nalloc c 1MiB s1\nexpect addr(c) == addr(a)\n"
      "free b on s1\nexpect pending_blocks == 0\nfree 0x1234 on s2 -> invalid_argument\n");
}

TEST(WorldStreams, WhatTheApplicationOrdersNeedNoEvent) {
  holds(
      "alloc a 1MiB s1\nlaunch s2 a 10\norder s2 s1\nfree a\n"
      "alloc b 1MiB s1\nexpect addr(b) == addr(a)\nlaunch s1 b 1\n"
      "expect calls(event_create) == 0\n");
}

TEST(WorldStreams, TheApplicationWaitsWithoutTheAllocator) {
  holds(
      "alloc a 1MiB s1\nuse a s2\nlaunch s2 a 10\nfree a\nsync\nexpect pending_blocks == 1\n"
      "expect calls(stream_sync) + calls(device_sync) + calls(event_sync) == 0\n"
      "poll\nexpect pending_blocks == 0\n");
}

TEST(WorldStreams, MemoryGoesBackAfterItsStreamsWereWaitedFor) {
  holds(
      "alloc a 1MiB s1\nalloc b 2MiB s0\nuse a s2\nlaunch s2 a 10\nlaunch s0 b 20\n"
      "free a\nfree b\nempty_cache\nexpect reserved == 0\nexpect syncs == 1\n"
      "expect calls(event_sync) == 1\nexpect calls(stream_sync) == 2\n");
}

TEST(WorldStreams, AnAnnouncedStreamAndTheNextOfItsHandleAreTwo) {
  holds(
      "alloc a 1MiB s1\nalloc w 1MiB s1\nlaunch s1 a 10\nfree a\nexpect stream(w) == s1\n"
      "destroy_stream s1\nexpect stream(w) != s1\n"
      "stream s2 reuse=s1\nexpect s2 == s1\nalloc b 1MiB s2\nexpect addr(b) != addr(a)\n"
      "launch s2 b 10\nfree w\nempty_cache\nexpect reserved == 2MiB\n");
}

TEST(WorldStreams, AnUnannouncedStreamAndTheNextOfItsHandleAreOne) {
  const std::string start =
      "alloc a 1MiB s1\nfree a\ndestroy_stream s1 unannounced\nstream s1 reuse=s1\n"
      "alloc b 1MiB s1\n";
  holds(start + "expect addr(b) == addr(a)\n");
  holds("conf stream_identity:id\n" + start +
        "expect addr(b) != addr(a)\nexpect stream(b) == s1\nexpect stream(b) != stream(a)\n");
}

TEST(WorldStreams, ADeadStreamsNameMayStillBePassed) {
  holds(
      "alloc a 1MiB s1\nuse a s2\ndestroy_stream s2 unannounced\nfree a\n"
      "expect calls(stream_ctx) == 1\nexpect calls(ctx_record) == 1\n"
      "alloc b 1MiB s2\nuse b s2\nfree b on s2\nsync\npoll\nexpect pending_blocks == 0\n");
  holds(
      "alloc a 1MiB s1\nuse a s2\ndestroy_stream s2\ndestroy_stream s1\nalloc b 1MiB s1\n"
      "expect addr(b) != addr(a)\nuse a s2\nfree a\nfree b on s2\nsync\nempty_cache\n"
      "expect reserved == 0\n");
  holds(
      "conf stream_identity:id\nalloc a 512 s1\ndestroy_stream s1\n"
      "free a size=512 -> cuda_error\nfree a\n");
}

TEST(WorldStreams, AStreamOfAnotherDeviceMayUseABlock) {
  holds(
      "gpu 1\nstream t gpu=1\nalloc a 1MiB s1\nuse a t\nlaunch t a 10\nfree a\n"
      "expect calls(event_record)@1 == 1\nexpect events(a) == 1\nadvance 10\npoll\n"
      "expect events(a) == 0\n");
  holds(
      "gpu 1\nstream s1\ndevice 1\nalloc a 1MiB s1\nfree a\ndestroy_stream s1\nempty_cache\n"
      "expect reserved@1 == 0\n");
}

TEST(WorldStreams, BlockingStreamsAreOrderedWithTheDefaultStream) {
  holds(
      "stream s1 blocking\nalloc a 1MiB s0\nlaunch s1 a 10\nfree a\nalloc b 1MiB s0\n"
      "expect addr(b) == addr(a)\nlaunch s0 b 1\n");
}

TEST(WorldStreams, AFailureToFenceLeavesTheBlockAndItsUses) {
  holds(
      "alloc a 1MiB s1\nuse a s2\nuse a s3\nlaunch s2 a 1\nlaunch s3 a 1\n"
      "fault event_record at=2 error=unknown\nfree a -> cuda_error\n"
      "expect live_blocks == 1\nexpect events(a) == 0\nfree a\nexpect events(a) == 2\n");
}

TEST(WorldStreams, AnAnnouncementThatFailsLeavesTheStream) {
  holds(
      "alloc a 1MiB s1\nfault event_record at=1 error=unknown\n"
      "destroy_stream s1 -> cuda_error\nexpect stream(a) == s1\nlaunch s1 a 1\n"
      "destroy_stream s1\nexpect stream(a) != s1\n");
}

TEST(WorldStreams, MistakesOfTheProgramAreNotTheAllocators) {
  mistaken("use a s1\n", 1, "'a' is not known");
  mistaken("launch s1 a 1\n", 1, "'a' is not known");
  mistaken("alloc a 1 s1\nfree a\nlaunch s1 a 1\n", 3, "'a' is freed");
  mistaken("destroy_stream s1\nlaunch s1 a 1\n", 2, "'s1' is destroyed");
  mistaken("destroy_stream s1\norder s0 s1\n", 2, "'s1' is destroyed");
  mistaken("destroy_stream s1\ndestroy_stream s1\n", 2, "'s1' is destroyed");
  mistaken("stream s2 reuse=s1\n", 1, "'s1' is not known");
  mistaken("stream s1\nstream s2 reuse=s1\n", 2, "'s1' is not destroyed");
  mistaken("stream s1 gpu=1\n", 1, "no device 1");
  mistaken("memory_fraction 0.5 gpu=1\n", 1, "no device 1");
}

TEST(WorldStreams, AKernelThatNobodyWasToldOfIsTheProgramsMistake) {
  mistaken(
      "alloc a 1MiB s1\nlaunch s2 a 10\nfree a\nalloc b 1MiB s1\nexpect addr(b) == addr(a)\n"
      "launch s1 b 1\n",
      6, "");
  mistaken(
      "alloc a 1MiB s1\nlaunch s2 a 10\nfree a\nalloc b 0.5MiB s1\nalloc c 0.5MiB s1\n"
      "expect addr(c) == addr(a) + 0.5MiB\nlaunch s1 c 1\n",
      7, "");
}

TEST(WorldStreams, KernelsThatOnlyReadDoNotDisturbEachOther) {
  const std::string start =
      "alloc a 1MiB s1\nlaunch s2 a:r 10\nfree a\nalloc b 1MiB s1\nexpect addr(b) == addr(a)\n";
  holds(start + "launch s1 b:r 1\n");
  mistaken(start + "launch s1 b 1\n", 6, "");
}

}  // namespace
}  // namespace cairn::testing
