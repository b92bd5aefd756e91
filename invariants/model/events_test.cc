// How the uses of a block are fenced by events, and how these are looked at and waited for.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t ptds = TestWorld::ptds;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr std::uint64_t s3 = TestWorld::s3;
constexpr int fault = ScriptedDriver::unknown;
constexpr int gone = ScriptedDriver::invalid_handle;
constexpr int not_supported = ScriptedDriver::not_supported;
const Answer not_done = Answer::not_done();

TEST(Pending, ABlockWaitsForEachOfItsUses) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s1, {s2, s3});
  EXPECT_EQ(world.free(a),
            (Calls{"stream_ctx 0 s32", "event_create 0 ctx0", "event_record 0 s32 e1",
                   "stream_ctx 0 s48", "event_create 0 ctx0", "event_record 0 s48 e2"}));
  EXPECT_EQ(world.states(), "pf");
  world.driver.answer({0, not_done});
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_EQ(world.states(), "pf");
  EXPECT_EQ(world.poll(), Calls{"event_query 0 e2"});
  EXPECT_EQ(world.states(), "f");
  EXPECT_EQ(world.poll(), Calls{});
}

TEST(Pending, ABlockIsActiveButNotAllocated) {
  Options options;
  options.max_split_size_bytes = (20_MiB).count;
  TestWorld world(options);
  const Address a = world.used_block(24_MiB - 1_B, s1, {s2});
  world.free(a);
  const std::int64_t size = static_cast<std::int64_t>((24_MiB).count);
  DeviceStats stats = world.stats();
  EXPECT_EQ(stats.allocation.all, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.allocated_bytes.large_pool, (Stat{0, size, size, size}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{0, 1, 1, 1}));
  EXPECT_EQ(stats.active.all, (Stat{1, 1, 1, 0}));
  EXPECT_EQ(stats.active_bytes.large_pool, (Stat{size, size, size, 0}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{size - 1, size - 1, size - 1, 0}));
  EXPECT_EQ(world.model.map(0)[0].blocks[0].requested_size_bytes, (24_MiB).count - 1);
  world.poll();
  stats = world.stats();
  EXPECT_EQ(stats.active_bytes.all, (Stat{0, size, size, size}));
  EXPECT_EQ(stats.requested_bytes.all, (Stat{0, size - 1, size - 1, size - 1}));
  EXPECT_EQ(stats.oversize_allocations, (Stat{0, 1, 1, 1}));
}

TEST(Pending, ABlockMergesWithNothingUntilItIsFree) {
  TestWorld world;
  const Address a = world.block(512_KiB);
  const Address b = world.used_block(512_KiB, s0, {s1});
  const Address c = world.block(512_KiB);
  world.free(b);
  world.free(a);
  world.free(c);
  EXPECT_EQ(world.states(), "fpf");
  EXPECT_EQ(world.stats().inactive_split.all.current, 2);
  world.poll();
  EXPECT_EQ(world.states(), "f");
  EXPECT_EQ(world.stats().inactive_split.all.current, 0);
}

TEST(Pending, ABlockServesNoRequestAndItsSegmentStays) {
  TestWorld world;
  world.free(world.used_block(12_MiB, s0, {s1}));
  world.driver.answer({not_done});
  EXPECT_EQ(world.allocate(12_MiB).address, Address{std::uint64_t{2} << 40});
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "malloc 0 12MiB"}));
}

TEST(Fences, DefaultStreamsAreOfThePrimaryContextWithoutACall) {
  TestWorld world;
  world.driver.on_thread(5);
  EXPECT_EQ(world.free(world.used_block(1_MiB, s1, {s0, ptds})),
            (Calls{"event_create 0 ctx0", "event_record 0 s1 e1", "event_create 0 ctx0",
                   "event_record 0 s2 e2"}));
}

TEST(Fences, AnotherThreadsOwnStreamIsFencedByItsContext) {
  TestWorld world;
  world.driver.on_thread(5);
  const Address a = world.used_block(1_MiB, s1, {ptds, s2});
  world.driver.on_thread(6);
  world.use(a, ptds);
  EXPECT_EQ(world.free(a), (Calls{"stream_ctx 0 s32", "event_create 0 ctx0",
                                  "event_record 0 s32 e1", "event_create 0 ctx0", "ctx_record 0 e2",
                                  "event_create 0 ctx0", "event_record 0 s2 e3"}));
  // The queue of the context comes behind those of handles, and before those of threads.
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 0 e2", "event_query 0 e3"}));
}

TEST(Fences, AStreamThatIsGoneIsFencedByItsContext) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s1, {s2});
  const Address b = world.used_block(512_KiB, s1, {s2});
  world.driver.answer({gone});
  EXPECT_EQ(world.free(a), (Calls{"stream_ctx 0 s32", "event_create 0 ctx0", "ctx_record 0 e1"}));
  world.driver.answer({0, 0, gone});  // The event whose record failed is taken again.
  EXPECT_EQ(world.free(b), (Calls{"stream_ctx 0 s32", "event_create 0 ctx0",
                                  "event_record 0 s32 e2", "ctx_record 0 e2"}));
  world.driver.answer({not_done});
  EXPECT_EQ(world.poll(), Calls{"event_query 0 e1"});  // Both are in one queue.
}

TEST(Fences, AnEventOfAnotherContextThatCouldNotBeRecordedStaysThere) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s1, {s2});
  world.driver.answer({Answer::number(9), 0, gone});
  EXPECT_EQ(world.free(a),
            (Calls{"stream_ctx 0 s32", "event_create 0 ctx9", "event_record 0 s32 e1",
                   "event_create 0 ctx0", "ctx_record 0 e2"}));
  world.poll();
  world.driver.answer({Answer::number(9)});
  EXPECT_EQ(world.free(world.used_block(512_KiB, s1, {s3})),
            (Calls{"stream_ctx 0 s48", "event_record 0 s48 e1"}));
}

TEST(Fences, WithoutContextEventsTheDeviceIsWaitedForAndTheUseIsOver) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s1, {s2});
  world.driver.answer({gone, 0, not_supported});
  EXPECT_EQ(world.free(a),
            (Calls{"stream_ctx 0 s32", "event_create 0 ctx0", "ctx_record 0 e1", "device_sync 0"}));
  EXPECT_EQ(world.states(), "f");
  world.driver.answer({0, gone, 0});  // The next one takes the event that was put back.
  EXPECT_EQ(world.free(world.used_block(512_KiB, s1, {s3})),
            (Calls{"stream_ctx 0 s48", "event_record 0 s48 e1", "ctx_record 0 e1"}));
}

TEST(Fences, AreOfTheDeviceOfTheStream) {
  TestWorld world;
  const Address a = world.block(1_MiB, s1);
  world.use(a, s2, 1);
  world.use(a, s2);
  EXPECT_EQ(world.free(a),
            (Calls{"stream_ctx 0 s32", "event_create 0 ctx0", "event_record 0 s32 e1",
                   "stream_ctx 1 s32", "event_create 1 ctx0", "event_record 1 s32 e2"}));
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 1 e2"}));
  // One pool for each device.
  const Address b = world.block(1_MiB, s1);
  world.use(b, s3, 1);
  EXPECT_EQ(world.free(b), (Calls{"stream_ctx 1 s48", "event_record 1 s48 e2"}));
}

// The longest fencing, and a failure at each of its calls: of s1 through a context, then s2, s3.
TEST(Fences, AFailureEndsTheFreeAndNothingHasChanged) {
  const Calls all{"stream_ctx 0 s16",      "event_create 0 ctx0", "event_record 0 s16 e1",
                  "ctx_record 0 e1",       "stream_ctx 0 s32",    "event_create 0 ctx7",
                  "event_record 0 s32 e2", "event_create 0 ctx0", "ctx_record 0 e3",
                  "device_sync 0",         "stream_ctx 0 s48",    "event_record 0 s48 e3"};
  const std::vector<Answer> answers{0, 0, gone, 0, Answer::number(7), 0, gone, 0, not_supported,
                                    0, 0, 0};
  for (std::size_t failing = 0; failing < all.size(); ++failing) {
    TestWorld world;
    const Address a = world.used_block(1_MiB, s0, {s1, s2, s3});
    const DeviceStats before = world.stats();
    std::vector<Answer> script(answers.begin(),
                               answers.begin() + static_cast<std::ptrdiff_t>(failing));
    script.emplace_back(fault);
    world.driver.answer(script);
    EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
    EXPECT_EQ(world.driver.calls(),
              Calls(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(failing) + 1));
    EXPECT_EQ(world.stats(), before);
    EXPECT_EQ(world.states(), "af");
    EXPECT_EQ(world.model.uses(a).size(), 3U);
    EXPECT_EQ(world.poll(), Calls{});  // No queue is left of it.
    EXPECT_EQ(world.model.free(a), ErrorCode::none);
  }
}

TEST(Fences, OnlyAStreamThatIsGoneLeadsToItsContext) {
  const std::vector<std::vector<Answer>> scripts{
      {not_supported}, {0, gone}, {0, 0, not_supported}, {gone, gone}, {gone, 0, gone}};
  for (const std::vector<Answer>& script : scripts) {
    TestWorld world;
    const Address a = world.used_block(1_MiB, s0, {s1});
    world.driver.answer(script);
    EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
    EXPECT_EQ(world.driver.calls().size(), script.size());
  }
}

TEST(Pools, TheLastEventBackIsTheFirstTaken) {
  TestWorld world;
  world.free(world.used_block(1_MiB, s0, {s1, s2, s3}));
  world.poll();  // Back in this order: 1, 2, 3.
  EXPECT_EQ(world.free(world.used_block(1_MiB, s0, {s1, s2})),
            (Calls{"stream_ctx 0 s16", "event_record 0 s16 e3", "stream_ctx 0 s32",
                   "event_record 0 s32 e2"}));
}

TEST(Pools, AFailedFreePutsBackTheFirstTakenFirst) {
  TestWorld world;
  world.free(world.used_block(1_MiB, s0, {s1, s2, s3}));
  world.poll();
  const Address a = world.used_block(1_MiB, s0, {s1, s2, s3});
  world.driver.answer({0, 0, 0, 0, 0, fault});  // Takes 3, 2 and 1.
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  EXPECT_EQ(world.free(a),
            (Calls{"stream_ctx 0 s16", "event_record 0 s16 e1", "stream_ctx 0 s32",
                   "event_record 0 s32 e2", "stream_ctx 0 s48", "event_record 0 s48 e3"}));
}

TEST(Looking, OneThatIsNotDoneHoldsUpItsOwnQueueAlone) {
  TestWorld world;
  const std::vector<Address> blocks{
      world.used_block(256_KiB, s0, {s1}), world.used_block(256_KiB, s0, {s2}),
      world.used_block(256_KiB, s0, {s1}), world.used_block(256_KiB, s0, {s2})};
  for (const Address block : blocks) world.free(block);
  world.driver.answer({not_done, 0, 0});
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 0 e2", "event_query 0 e4"}));
  EXPECT_EQ(world.states(), "pfpf");
  EXPECT_EQ(world.poll(), (Calls{"event_query 0 e1", "event_query 0 e3"}));
  EXPECT_EQ(world.states(), "f");
}

TEST(Looking, AFailedQueryIsNotDoneAndTheOthersHaveTheirTurn) {
  TestWorld world;
  const Address a = world.used_block(512_KiB, s0, {s1});
  const Address b = world.used_block(512_KiB, s0, {s2});
  world.free(a);
  world.free(b);
  world.driver.answer({fault, 0});
  EXPECT_EQ(world.model.process_events(0), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "event_query 0 e2"}));
  EXPECT_EQ(world.states(), "pf");
  world.driver.answer({fault});  // An allocation does not mind.
  EXPECT_EQ(world.allocate(512_KiB).code, ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{"event_query 0 e1"});
}

TEST(Looking, EachAllocationLooksFirstAndFindsWhatBecameFree) {
  TestWorld world;
  const Address a = world.used_block(12_MiB, s0, {s1});
  world.free(a);
  EXPECT_EQ(world.allocate(12_MiB).address, a);
  EXPECT_EQ(world.driver.calls(), Calls{"event_query 0 e1"});
  world.free(a);
  EXPECT_EQ(world.allocate(12_MiB).address, a);
  EXPECT_EQ(world.driver.calls(), Calls{});  // No queue, no call.
}

TEST(Looking, IsOfOneDevice) {
  TestWorld world;
  const Address a = world.block(1_MiB, s0, 1);
  world.use(a, s1, 0);
  world.free(a);
  EXPECT_EQ(world.poll(), Calls{});
  EXPECT_EQ(world.model.process_events(1), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{"event_query 0 e1"});
}

TEST(Waiting, EmptyCacheWaitsForAllEventsInOrder) {
  TestWorld world;
  const std::vector<Address> blocks{world.used_block(12_MiB, s0, {s2}),
                                    world.used_block(14_MiB, s0, {s1}),
                                    world.used_block(16_MiB, s0, {s2})};
  for (const Address block : blocks) world.free(block);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"event_sync 0 e2", "event_sync 0 e1", "event_sync 0 e3", "stream_sync 0 s1",
                   "free 0 #1", "free 0 #2", "free 0 #3"}));
  EXPECT_EQ(world.stats().num_sync_all_streams, 1);
}

TEST(Waiting, TheFirstFailureEndsIt) {
  TestWorld world;
  const std::vector<Address> blocks{world.used_block(12_MiB, s0, {s1}),
                                    world.used_block(14_MiB, s0, {s2}),
                                    world.used_block(16_MiB, s0, {s3})};
  for (const Address block : blocks) world.free(block);
  world.driver.answer({0, fault});
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_sync 0 e1", "event_sync 0 e2"}));
  EXPECT_EQ(world.states(), "f p p");
  EXPECT_EQ(world.stats().num_sync_all_streams, 1);
}

TEST(Waiting, ARequestThatFindsNoMemoryWaitsAndIsServedByWhatBecameFree) {
  TestWorld world;
  const Address a = world.used_block(12_MiB, s0, {s1});
  world.free(a);
  world.driver.answer({not_done, ScriptedDriver::out_of_memory});
  EXPECT_EQ(world.allocate(12_MiB).address, a);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_query 0 e1", "malloc 0 12MiB", "event_sync 0 e1"}));
  EXPECT_EQ(world.stats().num_alloc_retries, 0);
  EXPECT_EQ(world.stats().num_sync_all_streams, 1);
}

TEST(Waiting, AFailureInARequestIsACudaError) {
  TestWorld world;
  world.free(world.used_block(12_MiB, s0, {s1}));
  world.driver.answer({not_done, ScriptedDriver::out_of_memory, fault});
  EXPECT_EQ(world.allocate(12_MiB).code, ErrorCode::cuda_error);
  EXPECT_EQ(world.stats().num_ooms, 0);
  EXPECT_EQ(world.states(), "p");
}

}  // namespace
}  // namespace cairn::model
