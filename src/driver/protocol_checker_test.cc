// Each rule of the protocol, broken on purpose, is told by its name; kept, nothing is said.
#include "driver/protocol_checker.h"

#include <gtest/gtest.h>

#include <vector>

#include "driver/calls_in_test.h"
#include "driver/fault_injector.h"
#include "driver/null_driver.h"

namespace cairn {
namespace {

class ProtocolCheckerTest : public testing::Test {
 protected:
  std::vector<ProtocolRule> broken() const {
    std::vector<ProtocolRule> rules;
    for (const ProtocolViolation& violation : violations) rules.push_back(violation.rule);
    return rules;
  }

  NullDriver null{2};
  FaultInjector injector{null};
  std::vector<ProtocolViolation> violations;
  ProtocolChecker checker{injector,
                          [this](const ProtocolViolation& v) { violations.push_back(v); }};
};

TEST_F(ProtocolCheckerTest, SaysNothingWhereEverySpanGoesBackOnce) {
  const Address a = *checker.malloc(0, Bytes{512});
  const Address b = *checker.malloc(1, Bytes{512});
  ASSERT_TRUE(checker.mem_info(1));
  ASSERT_TRUE(checker.free(1, b));
  ASSERT_TRUE(checker.free(0, a));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, ASpanThatGoesBackTwice) {
  const Address a = *checker.malloc(0, Bytes{512});
  ASSERT_TRUE(checker.free(0, a));
  ASSERT_TRUE(checker.free(0, a));  // The driver below does not mind.
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
  EXPECT_NE(violations[0].message.find("0x100000000000"), std::string::npos);
}

TEST_F(ProtocolCheckerTest, AnAddressInsideASpanIsNotTheSpan) {
  const Address a = *checker.malloc(0, Bytes{4096});
  ASSERT_TRUE(checker.free(0, a + Bytes{512}));
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
}

TEST_F(ProtocolCheckerTest, ASpanThatGoesBackToAnotherDevice) {
  const Address a = *checker.malloc(1, Bytes{512});
  ASSERT_TRUE(checker.free(0, a));
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_to_its_own});
}

TEST_F(ProtocolCheckerTest, ASpanThatNeverGoesBack) {
  ASSERT_TRUE(checker.malloc(1, Bytes{512}));
  EXPECT_TRUE(violations.empty());
  checker.expect_all_back();
  EXPECT_EQ(broken(), std::vector{ProtocolRule::goes_back_once});
  EXPECT_EQ(violations[0].device, 1);
}

TEST_F(ProtocolCheckerTest, AFreeThatFailedHasGivenNothingBack) {
  const Address a = *checker.malloc(0, Bytes{512});
  injector.add({.call = DriverCall::free, .error = CudaStatus::unknown});
  ASSERT_FALSE(checker.free(0, a));
  ASSERT_TRUE(checker.free(0, a));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, AMallocThatFailedHasGivenNothing) {
  injector.add({.call = DriverCall::malloc, .error = CudaStatus::out_of_memory});
  ASSERT_FALSE(checker.malloc(0, Bytes{512}));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, EveryCallMustNameADeviceThatExists) {
  (void)checker.malloc(2, Bytes{512});
  (void)checker.mem_info(-1);
  ASSERT_EQ(violations.size(), 2u);
  EXPECT_EQ(violations[0].rule, ProtocolRule::known_device);
  EXPECT_EQ(violations[0].device, 2);
  EXPECT_EQ(violations[1].device, -1);
  const Address a = *checker.malloc(0, Bytes{512});
  (void)checker.free(7, a);
  EXPECT_EQ(violations[2].rule, ProtocolRule::known_device);
}

TEST_F(ProtocolCheckerTest, AnEventIsUsedAsLongAsItExists) {
  const EventHandle event = *checker.event_create(1, {});
  ASSERT_TRUE(checker.event_record({1, legacy_stream_handle}, event));
  ASSERT_TRUE(checker.event_record({1, per_thread_stream_handle}, event));
  ASSERT_TRUE(checker.ctx_record(1, event));
  ASSERT_TRUE(checker.event_query(1, event));
  ASSERT_TRUE(checker.event_sync(1, event));
  ASSERT_TRUE(checker.event_destroy(1, event));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());

  (void)checker.event_record({1, 0}, event);
  (void)checker.ctx_record(1, event);
  (void)checker.event_query(1, event);
  (void)checker.event_sync(1, event);
  (void)checker.event_destroy(1, event);
  EXPECT_EQ(broken(), std::vector(5, ProtocolRule::event_exists));
}

TEST_F(ProtocolCheckerTest, AnEventThatNobodyMade) {
  (void)checker.event_query(0, EventHandle{77});
  EXPECT_EQ(broken(), std::vector{ProtocolRule::event_exists});
  EXPECT_NE(violations[0].message.find("event 77"), std::string::npos);
}

TEST_F(ProtocolCheckerTest, AnEventOfAnotherDevice) {
  const EventHandle event = *checker.event_create(0, {});
  (void)checker.event_record({1, 0}, event);
  (void)checker.ctx_record(1, event);
  (void)checker.event_query(1, event);
  (void)checker.event_sync(1, event);
  (void)checker.event_destroy(1, event);
  EXPECT_EQ(broken(), std::vector(5, ProtocolRule::event_in_its_context));
}

TEST_F(ProtocolCheckerTest, AnEventThatIsNeverDestroyed) {
  (void)*checker.event_create(1, {});
  EXPECT_TRUE(violations.empty());
  checker.expect_all_back();
  EXPECT_EQ(broken(), std::vector{ProtocolRule::event_destroyed});
  EXPECT_EQ(violations[0].device, 1);
}

TEST_F(ProtocolCheckerTest, ADestroyThatFailedEndsTheEventToo) {
  const EventHandle event = *checker.event_create(0, {});
  injector.add({.call = DriverCall::event_destroy, .error = CudaStatus::unknown});
  ASSERT_FALSE(checker.event_destroy(0, event));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
  (void)checker.event_query(0, event);
  EXPECT_EQ(broken(), std::vector{ProtocolRule::event_exists});
}

TEST_F(ProtocolCheckerTest, AnEventThatCouldNotBeMadeIsNotMissed) {
  injector.add({.call = DriverCall::event_create, .error = CudaStatus::out_of_memory});
  ASSERT_FALSE(checker.event_create(0, {}));
  checker.expect_all_back();
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, AStreamThatEnded) {
  const EventHandle event = *checker.event_create(0, {});
  const StreamRef stream{0, 4096};
  const auto name_it = [&] {
    (void)checker.stream_ctx(stream);
    (void)checker.stream_sync(stream);
    (void)checker.stream_id(stream);
    (void)checker.event_record(stream, event);
  };
  name_it();
  EXPECT_TRUE(violations.empty());
  checker.stream_ended(stream.handle);
  name_it();
  EXPECT_EQ(broken(), std::vector(4, ProtocolRule::stream_exists));
  checker.stream_began(stream.handle);
  name_it();
  EXPECT_EQ(violations.size(), 4u);
}

TEST_F(ProtocolCheckerTest, DefaultStreamsDoNotEnd) {
  for (const std::uint64_t handle : {0u, 1u, 2u}) {
    checker.stream_ended(handle);
    (void)checker.stream_sync({0, handle});
  }
  EXPECT_TRUE(violations.empty());
}

TEST_F(ProtocolCheckerTest, ALostDeviceIsAskedNothingMore) {
  const Address a = *checker.malloc(0, Bytes{512});
  const EventHandle event = *checker.event_create(0, {});
  injector.add({.call = DriverCall::event_query, .error = CudaStatus::illegal_address});
  ASSERT_FALSE(checker.event_query(0, event));
  checker.expect_all_back();  // Nothing can go back any more.
  ASSERT_TRUE(checker.mem_info(1));
  EXPECT_TRUE(violations.empty());
  (void)checker.free(0, a);
  (void)checker.event_destroy(0, event);
  (void)checker.stream_sync({0, 0});
  EXPECT_EQ(broken(), std::vector(3, ProtocolRule::device_not_lost));
}

TEST_F(ProtocolCheckerTest, OtherFailuresLoseNoDevice) {
  injector.add({.call = DriverCall::mem_info, .error = CudaStatus::invalid_value});
  ASSERT_FALSE(checker.mem_info(0));
  ASSERT_TRUE(checker.mem_info(0));
  EXPECT_TRUE(violations.empty());
}

// Over a driver whose streams are of context 71, and whose events are all the same.
class ProtocolOfContextsTest : public testing::Test {
 protected:
  AnsweringDriver answering;
  RecordingDriver below{answering};
  FaultInjector injector{below};
  std::vector<ProtocolRule> broken;
  ProtocolChecker checker{injector,
                          [this](const ProtocolViolation& v) { broken.push_back(v.rule); }};
};

TEST_F(ProtocolOfContextsTest, EveryCallPasses) {
  expect_all_passes(checker, below);
  checker.expect_all_back();
  EXPECT_TRUE(broken.empty());
}

TEST_F(ProtocolOfContextsTest, EveryCallMayLoseItsDeviceAndComesForNoLostOne) {
  for (const CallInTest& call : every_call()) {
    ProtocolChecker fresh(injector,
                          [this](const ProtocolViolation& v) { broken.push_back(v.rule); });
    injector.add({.call = call.told.call, .error = CudaStatus::illegal_address});
    (void)call.make(fresh, call.told);
    broken.clear();
    (void)call.make(fresh, call.told);
    EXPECT_EQ(broken.front(), ProtocolRule::device_not_lost) << to_string(call.told.call);
  }
}

TEST_F(ProtocolOfContextsTest, AnEventOfAnotherContext) {
  const EventHandle event = *checker.event_create(0, {});  // Of the primary context.
  const StreamRef stream{0, 4096};
  (void)checker.event_record(stream, event);  // Nobody knows the stream's context.
  EXPECT_TRUE(broken.empty());
  (void)*checker.stream_ctx(stream);
  (void)checker.event_record(stream, event);
  EXPECT_EQ(broken, std::vector{ProtocolRule::event_in_its_context});
  checker.stream_ended(stream.handle);
  checker.stream_began(stream.handle);
  (void)checker.event_record(stream, event);  // Another stream, of which nothing is known.
  EXPECT_EQ(broken.size(), 1u);
}

TEST_F(ProtocolOfContextsTest, DefaultStreamsAreOfThePrimaryContext) {
  const EventHandle event = *checker.event_create(0, {71});
  (void)checker.event_record({0, legacy_stream_handle}, event);
  (void)checker.ctx_record(0, event);
  EXPECT_EQ(broken, std::vector(2, ProtocolRule::event_in_its_context));
}

TEST_F(ProtocolOfContextsTest, AnEventIsGivenTwice) {
  (void)*checker.event_create(0, {});
  (void)*checker.event_create(1, {});
  EXPECT_EQ(broken, std::vector{ProtocolRule::event_created_once});
}

}  // namespace
}  // namespace cairn
