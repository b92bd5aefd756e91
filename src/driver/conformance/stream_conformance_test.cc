// Streams: what waits for what, and which is which.
#include <set>
#include <thread>

#include "driver/conformance/conformance.h"

namespace cairn::conformance {
namespace {

constexpr StreamRef legacy{0, legacy_stream_handle};
constexpr StreamRef legacy_as_null{0, 0};
constexpr StreamRef per_thread{0, per_thread_stream_handle};

TEST_P(DriverConformance, StreamSyncWaitsForThatStream) {
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  std::thread other([&] { application().let_go(stream); });
  EXPECT_TRUE(driver().stream_sync(stream));
  EXPECT_TRUE(is_done(event));
  other.join();
}

TEST_P(DriverConformance, StreamSyncDoesNotWaitForOtherStreams) {
  const StreamRef busy = make_stream();
  const StreamRef idle = make_stream();
  application().hold(busy);
  const EventHandle event = record(busy);
  EXPECT_TRUE(driver().stream_sync(idle));
  EXPECT_FALSE(is_done(event));
  application().let_go(busy);
}

TEST_P(DriverConformance, DeviceSyncWaitsForAll) {
  const StreamRef first = make_stream();
  const StreamRef second = make_stream(StreamKind::blocking);
  application().hold(first);
  const EventHandle of_first = record(first);
  application().hold(second);
  const EventHandle of_second = record(second);
  std::thread other([&] {
    application().let_go(first);
    application().let_go(second);
  });
  EXPECT_TRUE(driver().device_sync(0));
  EXPECT_TRUE(is_done(of_first));
  EXPECT_TRUE(is_done(of_second));
  other.join();
}

TEST_P(DriverConformance, DeviceSyncDoesNotWaitForOtherDevices) {
  if (!has_two_devices()) GTEST_SKIP() << "one device";
  const StreamRef stream = make_stream();
  application().hold(stream);
  const EventHandle event = record(stream);
  EXPECT_TRUE(driver().device_sync(1));
  EXPECT_FALSE(is_done(event));
  application().let_go(stream);
}

TEST_P(DriverConformance, TheLegacyStreamHasTwoHandles) {
  EXPECT_EQ(value(driver().stream_id(legacy)), value(driver().stream_id(legacy_as_null)));
  application().hold(legacy);
  const EventHandle event = record(legacy_as_null);
  EXPECT_FALSE(is_done(event));
  application().let_go(legacy);
  EXPECT_TRUE(driver().stream_sync(legacy_as_null));
  EXPECT_TRUE(is_done(event));
}

TEST_P(DriverConformance, BlockingStreamsWaitForTheLegacyStream) {
  const StreamRef blocking = make_stream(StreamKind::blocking);
  const StreamRef non_blocking = make_stream(StreamKind::non_blocking);
  application().hold(legacy);
  const EventHandle waits = record(blocking);
  const EventHandle does_not = record(non_blocking);
  EXPECT_TRUE(driver().stream_sync(non_blocking));
  EXPECT_TRUE(is_done(does_not));
  EXPECT_FALSE(is_done(waits));
  application().let_go(legacy);
  EXPECT_TRUE(driver().stream_sync(blocking));
  EXPECT_TRUE(is_done(waits));
}

TEST_P(DriverConformance, TheLegacyStreamWaitsForBlockingStreams) {
  const StreamRef blocking = make_stream(StreamKind::blocking);
  application().hold(blocking);
  const EventHandle waits = record(legacy);
  EXPECT_FALSE(is_done(waits));
  application().let_go(blocking);
  EXPECT_TRUE(driver().stream_sync(legacy));
  EXPECT_TRUE(is_done(waits));
}

TEST_P(DriverConformance, TheLegacyStreamDoesNotWaitForNonBlockingStreams) {
  const StreamRef non_blocking = make_stream(StreamKind::non_blocking);
  application().hold(non_blocking);
  const EventHandle event = record(legacy);
  EXPECT_TRUE(driver().stream_sync(legacy));
  EXPECT_TRUE(is_done(event));
  application().let_go(non_blocking);
}

TEST_P(DriverConformance, ThePerThreadStreamWaitsForTheLegacyStream) {
  application().hold(legacy);
  const EventHandle event = record(per_thread);
  EXPECT_FALSE(is_done(event));
  application().let_go(legacy);
  EXPECT_TRUE(driver().stream_sync(per_thread));
  EXPECT_TRUE(is_done(event));
}

TEST_P(DriverConformance, EachThreadHasAPerThreadStream) {
  application().hold(per_thread);
  const EventHandle ours = record(per_thread);
  const std::uint64_t our_id = value(driver().stream_id(per_thread));
  std::thread other([&] {
    const EventHandle theirs = record(per_thread);
    EXPECT_TRUE(driver().stream_sync(per_thread));
    EXPECT_TRUE(is_done(theirs));
    EXPECT_NE(value(driver().stream_id(per_thread)), our_id);
  });
  other.join();
  EXPECT_FALSE(is_done(ours));
  application().let_go(per_thread);
  EXPECT_TRUE(driver().stream_sync(per_thread));
}

TEST_P(DriverConformance, NoTwoStreamsEverHaveTheSameId) {
  std::set<std::uint64_t> ids{value(driver().stream_id(legacy)),
                              value(driver().stream_id(per_thread))};
  EXPECT_EQ(ids.size(), 2u);
  for (int made = 1; made <= 8; ++made) {
    const StreamRef stream = make_stream();
    const auto id = driver().stream_id(stream);
    ASSERT_TRUE(id);
    EXPECT_TRUE(ids.insert(*id).second);
    EXPECT_EQ(value(driver().stream_id(stream)), *id);
    application().destroy_stream(stream);  // Its handle may name the next one.
  }
}

TEST_P(DriverConformance, TheLegacyStreamsOfTwoDevicesAreTwo) {
  if (!has_two_devices()) GTEST_SKIP() << "one device";
  EXPECT_NE(value(driver().stream_id({0, legacy_stream_handle})),
            value(driver().stream_id({1, legacy_stream_handle})));
}

TEST_P(DriverConformance, AStreamTellsItsContext) {
  const ContextHandle primary{};
  EXPECT_EQ(value(driver().stream_ctx(legacy)), primary);
  EXPECT_EQ(value(driver().stream_ctx(legacy_as_null)), primary);
  EXPECT_EQ(value(driver().stream_ctx(per_thread)), primary);
  EXPECT_EQ(value(driver().stream_ctx(make_stream())), primary);
  const ContextHandle context = application().make_context(0);
  EXPECT_NE(context, primary);
  EXPECT_EQ(value(driver().stream_ctx(application().make_stream_in(0, context))), context);
}

TEST_P(DriverConformance, AStreamThatWasDestroyedIsAnInvalidHandle) {
  if (!application().knows_dead_handles()) GTEST_SKIP() << "left undefined by CUDA";
  const StreamRef stream = make_stream();
  const EventHandle event = make_event();
  application().destroy_stream(stream);
  EXPECT_EQ(status_of(driver().event_record(stream, event)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().stream_sync(stream)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().stream_ctx(stream)), CudaStatus::invalid_handle);
  EXPECT_EQ(status_of(driver().stream_id(stream)), CudaStatus::invalid_handle);
}

}  // namespace
}  // namespace cairn::conformance
