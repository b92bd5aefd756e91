// Which stream a handle names, and who uses a block.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "invariants/model/test_world.h"

namespace cairn::model {
namespace {

using namespace literals;

using Keys = std::vector<StreamKey>;
constexpr std::uint64_t s0 = TestWorld::s0;
constexpr std::uint64_t ptds = TestWorld::ptds;
constexpr std::uint64_t s1 = TestWorld::s1;
constexpr std::uint64_t s2 = TestWorld::s2;
constexpr std::uint64_t s3 = TestWorld::s3;
constexpr std::uint64_t special = std::uint64_t{1} << 61;

Options by_id() {
  Options options;
  options.stream_identity = StreamIdentity::id;
  return options;
}

std::vector<std::uint64_t> segment_streams(const TestWorld& world) {
  std::vector<std::uint64_t> streams;
  for (const SegmentInfo& segment : world.model.map(0)) streams.push_back(segment.stream);
  return streams;
}

TEST(Names, NullAndOneAreTheLegacyStream) {
  TestWorld world;
  const Address a = world.block(1_MiB, 0);
  const Address b = world.block(1_MiB, 1);
  EXPECT_EQ(b, a + 1_MiB);
  EXPECT_EQ(segment_streams(world), (std::vector<std::uint64_t>{0}));
  world.use(a, 1);
  EXPECT_EQ(world.model.uses(a), Keys{});
}

TEST(Names, TwoIsTheCallingThreadsOwn) {
  TestWorld world;
  world.driver.on_thread(7);
  world.block(1_MiB, ptds);
  world.driver.on_thread(8);
  world.block(1_MiB, ptds);
  EXPECT_EQ(segment_streams(world),
            (std::vector<std::uint64_t>{per_thread_stream(7).value, per_thread_stream(8).value}));
}

TEST(Names, AHandleWithASpecialBitIsNone) {
  TestWorld world;
  const Address a = world.block(1_MiB, special - 1);
  for (const std::uint64_t bad : {special, special << 1, special << 2, ~std::uint64_t{0}}) {
    EXPECT_EQ(world.allocate(1_MiB, bad).code, ErrorCode::invalid_argument);
    EXPECT_EQ(world.allocate(0_B, bad).code, ErrorCode::none);
    EXPECT_EQ(world.allocate(1_GiB * (1 << 30), bad).code, ErrorCode::out_of_memory);
    EXPECT_EQ(world.model.record_stream(a, {0, bad}), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.free_on(a, {0, bad}), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.free(a, {}, bad), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.forget_stream({0, bad}), ErrorCode::invalid_argument);
  }
  EXPECT_EQ(world.driver.calls(), Calls{});
  EXPECT_EQ(world.model.free(a, 1_MiB, special - 1), ErrorCode::none);
}

TEST(Names, ADeviceThatIsNotThereHasNoStreams) {
  TestWorld world;
  const Address a = world.block(1_MiB);
  for (const DeviceIndex bad : {-1, 2}) {
    EXPECT_EQ(world.model.record_stream(a, {bad, s1}), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.free_on(a, {bad, s1}), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.forget_stream({bad, s1}), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.process_events(bad), ErrorCode::invalid_argument);
    EXPECT_EQ(world.model.record_stream(Address{0}, {bad, s1}), ErrorCode::none);
    EXPECT_EQ(world.model.free_on(Address{0}, {bad, s1}), ErrorCode::none);
  }
  EXPECT_EQ(world.states(), "af");
}

TEST(Ids, AreAskedAtEveryCallThatNamesAStreamButTheDefaultOnes) {
  TestWorld world(by_id());
  world.driver.answer({Answer::number(501), 0, Answer::number(502), Answer::number(501)});
  const Address a = world.allocate(1_MiB, s1).address;
  EXPECT_EQ(world.driver.calls(), (Calls{"stream_id 0 s16", "malloc 0 2MiB"}));
  EXPECT_EQ(world.model.record_stream(a, {1, s2}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{"stream_id 1 s32"});
  EXPECT_EQ(world.model.uses(a), (Keys{{1, {502}}}));
  EXPECT_EQ(world.model.free(a, 1_MiB - 1_B, s1), ErrorCode::invalid_argument);
  EXPECT_EQ(world.driver.calls(), Calls{"stream_id 0 s16"});
  EXPECT_EQ(segment_streams(world), (std::vector<std::uint64_t>{501}));

  world.use(a, s0);
  world.use(a, ptds);
  world.allocate(0_B, s1);
  world.model.record_stream(Address{0}, {0, s1});
  world.model.free(Address{64}, {}, s1);  // Of no block, so that its stream is of no device.
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Ids, ThatNoStreamHasAreInvalid) {
  TestWorld world(by_id());
  EXPECT_EQ(world.allocate(1_MiB, special).code, ErrorCode::invalid_argument);
  EXPECT_EQ(world.driver.calls(), Calls{});  // No handle is so large.
  for (const std::uint64_t id : {std::uint64_t{0}, special}) {
    world.driver.answer({Answer::number(id)});
    EXPECT_EQ(world.allocate(1_MiB, s1).code, ErrorCode::invalid_argument);
    EXPECT_EQ(world.driver.calls(), Calls{"stream_id 0 s16"});
  }
}

TEST(Ids, ThatTheDriverDoesNotTellAreACudaError) {
  TestWorld world(by_id());
  const Address a = world.block(1_MiB, s1);
  const int gone = ScriptedDriver::invalid_handle;
  for (int call = 0; call < 5; ++call) {
    world.driver.answer({gone});
    const ErrorCode code = call == 0   ? world.allocate(1_MiB, s2).code
                           : call == 1 ? world.model.record_stream(a, {0, s2})
                           : call == 2 ? world.model.free_on(Address{64}, {0, s2})
                           : call == 3 ? world.model.free(a, 1_MiB, s2)
                                       : world.model.forget_stream({0, s2});
    EXPECT_EQ(code, ErrorCode::cuda_error) << call;
    EXPECT_EQ(world.driver.calls(), Calls{"stream_id 0 s32"}) << call;
  }
  EXPECT_EQ(world.states(), "af");
}

TEST(Ids, TheDriverIsToldTheHandleOfAStream) {
  TestWorld world(by_id());
  const Address a = world.block(1_MiB, s0);
  world.driver.answer({Answer::number(501)});
  world.use(a, s1);
  world.driver.answer({Answer::number(501)});
  EXPECT_EQ(world.free(a), (Calls{"stream_id 0 s16", "stream_ctx 0 s16", "event_create 0 ctx0",
                                  "event_record 0 s16 e1"}));
}

TEST(Ids, OfAHandleIsAskedAgainWhenTheStreamIsReached) {
  TestWorld world(by_id());
  const Address a = world.block(1_MiB, s0);
  world.driver.answer({Answer::number(501)});
  world.use(a, s1);
  world.driver.calls();
  world.driver.answer({ScriptedDriver::out_of_memory});
  EXPECT_EQ(world.model.free(a), ErrorCode::cuda_error);
  EXPECT_EQ(world.driver.calls(), Calls{"stream_id 0 s16"});
  world.driver.answer({Answer::number(700)});  // Another stream's by now.
  EXPECT_EQ(world.free(a), (Calls{"stream_id 0 s16", "event_create 0 ctx0", "ctx_record 0 e1"}));
}

TEST(Ids, AHandleThatWasGivenToAnotherStreamReachesTheFirstNoMore) {
  TestWorld world(by_id());
  const Address a = world.block(1_MiB, s0);
  const Address b = world.block(12_MiB, s1);
  world.driver.answer({Answer::number(501)});
  world.use(a, s1, 1);
  world.driver.answer({Answer::number(700)});  // Whoever the call was for: it has a new id.
  EXPECT_EQ(world.model.record_stream(Address{64}, {1, s1}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.free(a), (Calls{"event_create 1 ctx0", "ctx_record 1 e1"}));

  world.driver.answer({Answer::number(701)});
  world.model.record_stream(Address{64}, {0, s1});
  world.free(b);
  EXPECT_EQ(world.model.empty_cache(), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), (Calls{"event_sync 1 e1", "device_sync 0", "free 0 #2",
                                         "stream_sync 0 s1", "free 0 #1"}));
}

TEST(Ids, OfOneStreamUnderTwoHandlesAreOneStream) {
  TestWorld world(by_id());
  world.driver.answer({Answer::number(501), 0, Answer::number(501)});
  const Address a = world.allocate(1_MiB, s1).address;
  EXPECT_EQ(world.block(1_MiB, s2), a + 1_MiB);
}

TEST(Ids, OfOneHandleOnTwoDevicesAreOfTwoStreams) {
  TestWorld world(by_id());
  const Address a = world.block(1_MiB, s0);
  world.driver.answer({Answer::number(501)});
  world.use(a, s1, 0);
  world.driver.answer({Answer::number(502)});
  world.use(a, s1, 1);
  world.driver.answer({Answer::number(501)});
  world.use(a, s2, 1);  // As numbers go on another device.
  world.driver.calls();
  world.driver.answer(
      {Answer::number(501), 0, 0, 0, Answer::number(501), 0, 0, 0, Answer::number(502), 0, 0, 0});
  EXPECT_EQ(world.free(a),
            (Calls{"stream_id 0 s16", "stream_ctx 0 s16", "event_create 0 ctx0",
                   "event_record 0 s16 e1", "stream_id 1 s32", "stream_ctx 1 s32",
                   "event_create 1 ctx0", "event_record 1 s32 e2", "stream_id 1 s16",
                   "stream_ctx 1 s16", "event_create 1 ctx0", "event_record 1 s16 e3"}));
}

TEST(Uses, AreListedOnceInOrderWithoutTheBlocksOwn) {
  TestWorld world;
  const Address a = world.block(1_MiB, s1);
  world.use(a, s3);
  world.use(a, s2, 1);
  world.use(a, s2);
  world.use(a, s1);  // Its own.
  world.use(a, s3);
  world.use(a, s1, 1);  // Another device's stream.
  world.use(a, s0);
  EXPECT_EQ(world.model.uses(a), (Keys{{0, {0}}, {0, {s2}}, {0, {s3}}, {1, {s1}}, {1, {s2}}}));
  EXPECT_EQ(world.driver.calls(), Calls{});
}

TEST(Uses, AreOfLiveBlocksAlone) {
  TestWorld world;
  const Address a = world.block(1_MiB, s1);
  EXPECT_EQ(world.model.record_stream(a + 512_B, {0, s2}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.record_stream(Address{0}, {0, s2}), ErrorCode::none);
  world.use(a, s2);
  world.free(a);  // Pending.
  EXPECT_EQ(world.model.record_stream(a, {0, s3}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.free_on(a, {0, s3}), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.free(a), ErrorCode::invalid_argument);
  EXPECT_EQ(world.model.uses(a), Keys{});
  world.poll();
  EXPECT_EQ(world.block(1_MiB, s1), a);
  EXPECT_EQ(world.model.uses(a), Keys{});  // It begins anew.
}

TEST(FreeOn, IsRecordAndFreeInOne) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s1, {s3});
  EXPECT_EQ(world.model.free_on(a, {0, s0}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(),
            (Calls{"event_create 0 ctx0", "event_record 0 s1 e1", "stream_ctx 0 s48",
                   "event_create 0 ctx0", "event_record 0 s48 e2"}));
  EXPECT_EQ(world.states(), "pf");
}

TEST(FreeOn, ItsOwnStreamIsAPlainFree) {
  TestWorld world;
  EXPECT_EQ(world.model.free_on(world.block(1_MiB, s1), {0, s1}), ErrorCode::none);
  EXPECT_EQ(world.driver.calls(), Calls{});
  EXPECT_EQ(world.states(), "f");
}

TEST(FreeOn, ThatFailsLeavesTheUsesAsTheyWere) {
  TestWorld world;
  const Address a = world.used_block(1_MiB, s1, {s3});
  world.driver.answer({0, 0, ScriptedDriver::unknown});
  EXPECT_EQ(world.model.free_on(a, {0, s2}), ErrorCode::cuda_error);
  EXPECT_EQ(world.model.uses(a), (Keys{{0, {s3}}}));
  EXPECT_EQ(world.states(), "af");
}

}  // namespace
}  // namespace cairn::model
