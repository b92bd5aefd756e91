// What the driver's calls for events and streams answer, what an application is refused, and what
// names what: handles, contexts, ids.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "simulator/machine_in_test.h"

namespace cairn::simulator {
namespace {

using Events = MachineTest;
using Contexts = MachineTest;
using StreamHandles = MachineTest;
using Refusals = MachineTest;

using namespace cairn::literals;

constexpr auto invalid_handle = CudaStatus::invalid_handle;
constexpr auto invalid_device = CudaStatus::invalid_device;

TEST_F(Events, OneThatWasNeverRecordedIsDoneAndSoIsOneOfAnIdleStream) {
  const EventHandle never = event();
  EXPECT_NE(never.value, 0u);
  EXPECT_TRUE(is_done(never));
  EXPECT_TRUE(gpu.event_sync(0, never));
  EXPECT_TRUE(is_done(recorded(stream())));
}

TEST_F(Events, StandForTheMomentOfTheirLastRecord) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream();
  work(s1, 10);
  const EventHandle e = recorded(s1);
  work(s1, 10);
  gpu.advance(10);
  EXPECT_TRUE(is_done(e));
  ASSERT_TRUE(gpu.event_record(s1, e));
  EXPECT_FALSE(is_done(e));
  ASSERT_TRUE(gpu.event_record(s2, e));  // Now it is of a stream that is idle.
  EXPECT_TRUE(is_done(e));
}

TEST_F(Events, AreCountedWhileTheyExist) {
  const StreamRef s1 = stream();
  work(s1, 10);
  const EventHandle pending = recorded(s1);
  const EventHandle other = event(1);
  EXPECT_EQ(gpu.event_count(), 2u);
  EXPECT_TRUE(gpu.event_destroy(0, pending));
  EXPECT_TRUE(gpu.event_destroy(1, other));
  EXPECT_EQ(gpu.event_count(), 0u);
  expect_innocence();
}

TEST_F(Events, AnyUseOfADestroyedOneIsAnErrorAndAViolation) {
  const EventHandle e = event();
  ASSERT_TRUE(gpu.event_destroy(0, e));
  EXPECT_EQ(gpu.event_record(s0, e).error(), invalid_handle);
  EXPECT_EQ(gpu.ctx_record(0, e).error(), invalid_handle);
  EXPECT_EQ(gpu.event_query(0, e).error(), invalid_handle);
  EXPECT_EQ(gpu.event_sync(0, e).error(), invalid_handle);
  EXPECT_EQ(gpu.event_destroy(0, e).error(), invalid_handle);
  EXPECT_EQ(seen(), std::vector(5, ViolationKind::dead_handle));
  EXPECT_NE(
      gpu.violations()[2].message.find("event_query of the event 0xe000, which was destroyed"),
      std::string::npos);
}

TEST_F(Events, AnyUseOfOneThatWasNeverCreatedIsToo) {
  EXPECT_EQ(gpu.event_query(0, {0xe000}).error(), invalid_handle);
  expect_violation(ViolationKind::dead_handle, "never created");
}

TEST_F(Events, CallsForADeviceThatDoesNotExist) {
  const EventHandle e = event();
  EXPECT_EQ(gpu.event_create(2, {}).error(), invalid_device);
  EXPECT_EQ(gpu.event_record({2, 0}, e).error(), invalid_device);
  EXPECT_EQ(gpu.event_query(-1, e).error(), invalid_device);
  EXPECT_EQ(gpu.event_sync(2, e).error(), invalid_device);
  EXPECT_EQ(gpu.event_destroy(2, e).error(), invalid_device);
  EXPECT_EQ(gpu.ctx_record(2, e).error(), invalid_device);
  EXPECT_EQ(gpu.stream_sync({2, 0}).error(), invalid_device);
  EXPECT_EQ(gpu.device_sync(2).error(), invalid_device);
  EXPECT_EQ(gpu.stream_ctx({2, 0}).error(), invalid_device);
  EXPECT_EQ(gpu.stream_id({2, 0}).error(), invalid_device);
  expect_innocence();
}

// B015: an event of one device, recorded on the same handle of another.
TEST_F(Events, OneOfAnotherContextIsRefusedAndStaysAsItWas) {
  const StreamRef s1 = stream();
  work(s1, 10);
  const EventHandle e = recorded(s1);
  EXPECT_EQ(gpu.event_record({1, per_thread_stream_handle}, e).error(), invalid_handle);
  EXPECT_EQ(gpu.event_record(stream(1), e).error(), invalid_handle);
  EXPECT_EQ(gpu.ctx_record(1, e).error(), invalid_handle);
  const auto context = gpu.make_context(0);
  EXPECT_EQ(gpu.event_record(*gpu.make_stream({.context = *context}), e).error(), invalid_handle);
  EXPECT_FALSE(is_done(e));
  expect_innocence();
}

TEST_F(Contexts, ThePrimaryOneIsNamedZeroBesideItsDeviceAlone) {
  const StreamRef s1 = stream(1);
  EXPECT_EQ(gpu.stream_ctx(s0)->value, 0u);
  EXPECT_EQ(gpu.stream_ctx({1, per_thread_stream_handle})->value, 0u);
  EXPECT_EQ(gpu.stream_ctx(s1)->value, 0u);
  const StreamRef misnamed{0, s1.handle};
  const auto context = gpu.stream_ctx(misnamed);
  ASSERT_TRUE(context);
  EXPECT_NE(context->value, 0u);
  const auto e = gpu.event_create(0, *context);
  ASSERT_TRUE(e);
  EXPECT_TRUE(gpu.event_record(misnamed, *e));
  EXPECT_TRUE(gpu.ctx_record(1, *e));
  EXPECT_EQ(gpu.event_record(s0, *e).error(), invalid_handle);
}

TEST_F(Contexts, AFurtherOneHasStreamsAndEventsOfItsOwn) {
  const auto context = gpu.make_context(1);
  ASSERT_TRUE(context);
  EXPECT_NE(context->value, gpu.make_context(1)->value);
  const StreamRef s1 = *gpu.make_stream({.device = 1, .context = *context});
  EXPECT_EQ(*gpu.stream_ctx(s1), *context);
  work(s1, 10);
  const auto e = gpu.event_create(1, *context);
  ASSERT_TRUE(gpu.event_record(s1, *e));
  EXPECT_FALSE(is_done(*e));
  EXPECT_EQ(gpu.event_record(s1, event(1)).error(), invalid_handle);
  EXPECT_EQ(gpu.event_create(1, {0x999}).error(), invalid_handle);
}

TEST_F(StreamHandles, CountUpwardsAndFindTheirStreamBesideAnyDevice) {
  const StreamRef s1 = stream();
  const StreamRef s2 = stream(1);
  EXPECT_EQ(s1, (StreamRef{0, 0x5000}));
  EXPECT_EQ(s2, (StreamRef{1, 0x5010}));
  work(s2, 10);
  EXPECT_EQ(gpu.identify({0, s2.handle}), gpu.identify(s2));
  ASSERT_TRUE(gpu.stream_sync({0, s2.handle}));
  EXPECT_TRUE(is_idle(s2));
}

TEST_F(StreamHandles, NoTwoStreamsHaveOneId) {
  std::set<std::uint64_t> ids;
  const auto note = [&](StreamRef each) {
    const std::uint64_t id = *gpu.stream_id(each);
    EXPECT_TRUE(ids.insert(id).second);
    EXPECT_NE(id, 0u);
    EXPECT_LT(id, first_special_stream);
    EXPECT_EQ(static_cast<std::uint64_t>(gpu.identify(each)), id);
  };
  for (DeviceIndex device = 0; device < 2; ++device) {
    note({device, 0});
    note({device, per_thread_stream_handle});
    StreamRef made = stream(device);
    note(made);
    destroy(made);
    made = under_handle_of(made);
    note(made);
  }
}

TEST_F(StreamHandles, ADeadOneNamesNothingUntilItIsUsedAgain) {
  const StreamRef s1 = stream();
  work(s1, 10);
  destroy(s1, false);
  EXPECT_EQ(gpu.identify(s1), StreamNumber::none);
  EXPECT_EQ(gpu.stream_sync(s1).error(), invalid_handle);
  EXPECT_NE(stream().handle, s1.handle);
  const StreamRef s2 = under_handle_of(s1);
  EXPECT_EQ(s2, s1);
  EXPECT_TRUE(is_idle(s2));  // The old stream's work is not the new one's.
  expect_innocence();
}

TEST_F(StreamHandles, CallsWithADeadOneAreErrorsAndViolationsIfItsEndWasAnnounced) {
  const StreamRef told = stream();
  const StreamRef untold = stream();
  destroy(told);
  destroy(untold, false);
  const EventHandle e = event();
  for (const StreamRef dead : {untold, told}) {
    EXPECT_EQ(gpu.event_record(dead, e).error(), invalid_handle);
    EXPECT_EQ(gpu.stream_sync(dead).error(), invalid_handle);
    EXPECT_EQ(gpu.stream_ctx(dead).error(), invalid_handle);
    EXPECT_EQ(gpu.stream_id(dead).error(), invalid_handle);
    EXPECT_EQ(gpu.violation_count(), dead == told ? 4u : 0u);
  }
  EXPECT_NE(gpu.violations()[1].message.find("stream_sync of the stream 0x5000"),
            std::string::npos);
  EXPECT_EQ(gpu.stream_sync({0, 0x5008}).error(), invalid_handle);  // Never was one.
  EXPECT_EQ(gpu.violation_count(), 4u);
}

TEST_F(Refusals, NameADeviceOrAContextThatDoesNotExist) {
  expect_refused(gpu.make_context(2), "no device 2");
  expect_refused(gpu.make_stream({.device = 2}), "no device 2");
  expect_refused(gpu.launch({2, 0}, {}, 1), "no device 2");
  expect_refused(gpu.order(s0, {2, 0}), "no device 2");
  expect_refused(gpu.synchronize(2), "no device 2");
  expect_refused(gpu.synchronize(StreamRef{-1, 0}), "no device -1");
  const auto context = gpu.make_context(0);
  expect_refused(gpu.make_stream({.device = 1, .context = *context}), "device 1 has no context");
  expect_refused(gpu.make_stream({.context = {0x999}}), "no context 0x999");
  EXPECT_EQ(gpu.identify({2, 0}), StreamNumber::none);
}

TEST_F(Refusals, NameAStreamThatIsDeadOrNeverWas) {
  const StreamRef s1 = stream();
  destroy(s1);
  expect_refused(gpu.launch(s1, {}, 1), "stream 0x5000 was destroyed");
  expect_refused(gpu.order(s1, s0), "stream 0x5000 was destroyed");
  expect_refused(gpu.order(s0, s1), "stream 0x5000 was destroyed");
  expect_refused(gpu.synchronize(s1), "stream 0x5000 was destroyed");
  expect_refused(gpu.destroy_stream(s1, true), "stream 0x5000 was destroyed");
  expect_refused(gpu.launch({0, 0x5010}, {}, 1), "no stream 0x5010");
  expect_innocence();
}

TEST_F(Refusals, KeepALiveHandleAndTheDefaultStreams) {
  const StreamRef s1 = stream();
  expect_refused(gpu.make_stream({.reuse_handle = s1.handle}), "0x5000 is not one that was");
  expect_refused(gpu.make_stream({.reuse_handle = 0x5010}), "0x5010 is not one that was");
  expect_refused(gpu.make_stream({.reuse_handle = 0}), "0x0 is not one that was");
  EXPECT_EQ(stream().handle, 0x5010u);
  expect_refused(gpu.destroy_stream(s0, true), "default stream of device 0 cannot be destroyed");
  expect_refused(gpu.destroy_stream({0, per_thread_stream_handle}, true), "cannot be destroyed");
}

TEST_F(Refusals, KeepAKernelFromWhatTheProgramDoesNotHold) {
  const Span memory = segment();
  hand_out({memory.begin, 1_MiB}, s0);
  const auto launch = [&](Span range, DeviceIndex device = 0) {
    return gpu.launch(s0, {{0, {memory.begin, 512_B}, false}, {device, range, false}}, 10);
  };
  expect_refused(launch({memory.begin, 0_B}), "empty");
  expect_refused(launch({memory.begin, 1_MiB}, 1), "does not hold");
  expect_refused(launch({memory.begin, 1_MiB}, 2), "no device 2");
  expect_refused(launch({memory.begin, 1_MiB + 1_B}), "does not hold the 1048577 bytes at 0x1");
  expect_refused(launch({memory.begin + 1_MiB, 512_B}), "does not hold");
  expect_refused(launch({memory.begin, Bytes{~std::uint64_t{0}}}), "does not hold");
  take_back({memory.begin, 1_MiB});
  expect_refused(launch({memory.begin, 512_B}), "does not hold");
  EXPECT_TRUE(is_idle(s0));
  expect_innocence();
}

}  // namespace
}  // namespace cairn::simulator
