// Events: what they stand for, and when they are done.
#include <thread>

#include "driver/conformance/conformance.h"

namespace cairn::conformance {
namespace {

TEST_P(DriverConformance, AnEventThatWasNeverRecordedIsDone) {
  const EventHandle event = make_event();
  EXPECT_NE(event.value, 0u);
  EXPECT_TRUE(is_done(event));
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(driver().event_destroy(0, event));
}

TEST_P(DriverConformance, EventsAreDifferent) { EXPECT_NE(make_event(), make_event()); }

TEST_P(DriverConformance, AnEventIsDoneWhenTheWorkBeforeItIs) {
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  EXPECT_FALSE(is_done(event));
  application().let_go(stream);
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event));
}

TEST_P(DriverConformance, WorkThatCameLaterIsNoneOfTheEvents) {
  const StreamRef stream = make_stream();
  const EventHandle event = record(stream);
  application().hold(stream);
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event));
  application().let_go(stream);
}

TEST_P(DriverConformance, EventSyncWaits) {
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  std::thread other([&] { application().let_go(stream); });
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event));
  other.join();
}

TEST_P(DriverConformance, ARecordStandsForTheNewMomentAlone) {
  const StreamRef busy = make_stream();
  const StreamRef idle = make_stream();
  const EventHandle event = record(idle);
  ASSERT_TRUE(driver().event_sync(0, event));
  application().hold(busy);
  ASSERT_TRUE(driver().event_record(busy, event));
  EXPECT_FALSE(is_done(event)) << "it was done, for an earlier moment";
  ASSERT_TRUE(driver().event_record(idle, event));
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event)) << "the busy stream is that of an earlier moment";
  application().let_go(busy);
}

TEST_P(DriverConformance, StreamsAreDoneEachForItself) {
  const StreamRef first = make_stream();
  const StreamRef second = make_stream();
  application().hold(first);
  const EventHandle of_first = record(first);
  application().hold(second);
  const EventHandle of_second = record(second);
  application().let_go(first);
  EXPECT_TRUE(driver().event_sync(0, of_first));
  EXPECT_TRUE(is_done(of_first));
  EXPECT_FALSE(is_done(of_second));
  application().let_go(second);
  EXPECT_TRUE(driver().event_sync(0, of_second));
}

TEST_P(DriverConformance, AnEventOutlivesItsStream) {
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  application().destroy_stream(stream);
  EXPECT_FALSE(is_done(event)) << "the work of a stream that was destroyed goes on";
  application().let_go(stream);
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event));
}

TEST_P(DriverConformance, AnEventCanBeDestroyedBeforeItIsDone) {
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  EXPECT_TRUE(driver().event_destroy(0, event));
  application().let_go(stream);
  EXPECT_TRUE(driver().stream_sync(stream));
}

TEST_P(DriverConformance, AnEventThatIsNoneIsAnInvalidHandle) {
  if (!application().knows_dead_handles()) GTEST_SKIP() << "left undefined by CUDA";
  const EventHandle dead = make_event();
  const StreamRef stream = make_stream();
  ASSERT_TRUE(driver().event_destroy(0, dead));
  EXPECT_EQ(status_of(driver().event_query(0, dead)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().event_sync(0, dead)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().event_record(stream, dead)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().event_destroy(0, dead)), CudaStatus::invalid_handle);
}

TEST_P(DriverConformance, AnEventOfAnotherContextCannotBeRecorded) {
  const ContextHandle context = application().make_context(0);
  const StreamRef stream = application().make_stream_in(0, context);
  const EventHandle stranger = make_event();
  EXPECT_EQ(status_of(driver().event_record(stream, stranger)), CudaStatus::invalid_handle);
  EXPECT_TRUE(is_done(stranger));

  const EventHandle event = make_event(context);
  application().hold(stream);
  EXPECT_TRUE(driver().event_record(stream, event));
  EXPECT_FALSE(is_done(event));
  application().let_go(stream);
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(driver().event_destroy(0, event));
}

TEST_P(DriverConformance, AnEventOfAnotherDeviceCannotBeRecorded) {
  if (!has_two_devices()) GTEST_SKIP() << "one device";
  const StreamRef stream = application().make_stream(1, StreamKind::non_blocking);
  EXPECT_EQ(status_of(driver().event_record(stream, make_event())), CudaStatus::invalid_handle);
}

TEST_P(DriverConformance, AnEventOfTheContextStandsForAllItsStreams) {
  const EventHandle event = make_event();
  const auto answer = driver().ctx_record(0, event);
  if (status_of(answer) == CudaStatus::not_supported) GTEST_SKIP() << "CUDA before 12.5";
  ASSERT_TRUE(answer);
  ASSERT_TRUE(driver().event_sync(0, event));

  const StreamRef first = make_stream(StreamKind::blocking);
  const StreamRef second = make_stream();
  application().hold(first);
  application().hold(second);
  ASSERT_TRUE(driver().ctx_record(0, event));
  EXPECT_FALSE(is_done(event));
  application().let_go(first);
  ASSERT_TRUE(driver().stream_sync(first));
  EXPECT_FALSE(is_done(event));
  application().let_go(second);
  EXPECT_TRUE(driver().event_sync(0, event));
  EXPECT_TRUE(is_done(event));
}

TEST_P(DriverConformance, TwoThreadsDoNotDisturbEachOther) {
  const auto work = [this](StreamRef stream) {
    for (int round = 0; round < 200; ++round) {
      const EventHandle event = record(stream);
      EXPECT_TRUE(driver().event_sync(0, event));
      EXPECT_TRUE(is_done(event));
      EXPECT_TRUE(driver().event_destroy(0, event));
    }
  };
  const StreamRef first = make_stream();
  const StreamRef second = make_stream();
  std::thread other(work, first);
  work(second);
  other.join();
}

}  // namespace
}  // namespace cairn::conformance
