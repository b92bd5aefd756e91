// A use by another stream, at the free: an event behind that stream's work, by whatever way the
// driver offers, or nothing at all.
#include "allocator/fencing.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "allocator/device_in_test.h"
#include "base/thread_number.h"

namespace cairn {
namespace {

using namespace literals;

class FencingTest : public testing::Test {
 protected:
  ScriptedDriver& driver() { return device_.driver(); }
  Calls calls() { return device_.calls(); }
  // Frees it; gives the calls of that.
  Calls calls_of_free(Address address) {
    calls();
    device_.free(address);
    return calls();
  }
  // Lets events become unused, so that their pools can be seen: the last is taken first.
  void finish_all() {
    driver().finish_all();
    EXPECT_TRUE(device_.process_events());
    EXPECT_EQ(device_.queued(), 0u);
    calls();
  }

  DeviceInTest device_{{}, 2};
};

TEST_F(FencingTest, WithoutUsesNothingIsAsked) {
  const Address address = device_.allocate(1000_B, s1);
  device_.record(address, s1);
  EXPECT_EQ(calls_of_free(address), Calls{});
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(FencingTest, ADefaultStreamsContextIsKnown) {
  const Address address = device_.allocate_used(1000_B, s1, {s0});
  EXPECT_EQ(calls_of_free(address), (Calls{"event_create 0", "event_record 0 s0x1 e1"}));
  EXPECT_TRUE(device_.is_pending(address));
}

TEST_F(FencingTest, ThePerThreadStreamOfTheCallerToo) {
  const StreamId mine = per_thread_stream(this_thread_number());
  const Address address = device_.allocate_used(1000_B, s1, {mine});
  EXPECT_EQ(calls_of_free(address), (Calls{"event_create 0", "event_record 0 s0x2 e1"}));
}

TEST_F(FencingTest, OfAnyOtherStreamTheDriverIsAskedForTheContext) {
  driver().set_context(0x52, 7);
  const Address address = device_.allocate_used(1000_B, s0, {s1, s2});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1",
                   "stream_ctx 0 s0x52", "event_create 0 c7", "event_record 0 s0x52 e2"}));
  EXPECT_EQ(device_.queued(), 2u);
}

TEST_F(FencingTest, TheHandleAfterTheDefaultStreamsIsOfAnyOtherStream) {
  const Address address = device_.allocate_used(1000_B, s0, {{per_thread_stream_handle + 1}});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x3", "event_create 0", "event_record 0 s0x3 e1"}));
}

TEST_F(FencingTest, UsesGoByDeviceThenStreamEachOnce) {
  const Address address = device_.allocate(1000_B, s1);
  device_.record(address, s3, 1);
  device_.record(address, s2);
  device_.record(address, s0);
  device_.record(address, s2, 0);
  device_.record(address, s1, 1);
  const std::vector<StreamKey> uses{{0, s0}, {0, s2}, {1, s1}, {1, s3}};
  EXPECT_EQ(device_.uses(address), uses);
  EXPECT_EQ(calls_of_free(address),
            (Calls{"event_create 0", "event_record 0 s0x1 e1", "stream_ctx 0 s0x52",
                   "event_create 0", "event_record 0 s0x52 e2", "stream_ctx 1 s0x51",
                   "event_create 1", "event_record 1 s0x51 e3", "stream_ctx 1 s0x53",
                   "event_create 1", "event_record 1 s0x53 e4"}));
}

TEST_F(FencingTest, AStreamThatIsGoneIsFencedByItsContext) {
  driver().answer(DriverCall::stream_ctx, {no_stream});
  const Address address = device_.allocate_used(1000_B, s0, {s1});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "ctx_record 0 e1"}));
  calls();
  driver().finish_all();
  EXPECT_TRUE(device_.process_events());
  EXPECT_EQ(calls(), Calls{"event_query 0 e1"});
  EXPECT_FALSE(device_.is_pending(address));
}

// The event whose record failed is in its pool again when the next is taken.
TEST_F(FencingTest, AlsoWhenOnlyTheRecordSaysSo) {
  driver().set_context(0x51, 7);
  driver().answer(DriverCall::event_record, {no_stream, ok, no_stream});
  const Address address = device_.allocate_used(1000_B, s0, {s1});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x51", "event_create 0 c7", "event_record 0 s0x51 e1",
                   "event_create 0", "ctx_record 0 e2"}));
  finish_all();
  const Address same = device_.allocate_used(1000_B, s0, {s1});  // e1 is of context 7.
  EXPECT_EQ(calls_of_free(same), (Calls{"stream_ctx 0 s0x51", "event_record 0 s0x51 e1"}));
  finish_all();
  driver().set_context(0x51, 0);
  const Address primary = device_.allocate_used(1000_B, s0, {s1});
  EXPECT_EQ(calls_of_free(primary),
            (Calls{"stream_ctx 0 s0x51", "event_record 0 s0x51 e2", "ctx_record 0 e2"}));
}

TEST_F(FencingTest, WhereContextsCannotBeRecordedTheDeviceIsWaitedFor) {
  driver().answer(DriverCall::stream_ctx, {no_stream});
  driver().answer(DriverCall::ctx_record, {CudaStatus::not_supported});
  const Address address = device_.allocate_used(1000_B, s0, {s1});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "ctx_record 0 e1", "device_sync 0"}));
  EXPECT_FALSE(device_.is_pending(address));
  EXPECT_EQ(device_.queued(), 0u);
  const Address next = device_.allocate_used(1000_B, s0, {s2});  // The event is back.
  EXPECT_EQ(calls_of_free(next), (Calls{"stream_ctx 0 s0x52", "event_record 0 s0x52 e1"}));
}

// One use is over, another is not.
TEST_F(FencingTest, TheBlockWaitsForTheOtherUsesStill) {
  driver().answer(DriverCall::stream_ctx, {no_stream});
  driver().answer(DriverCall::ctx_record, {CudaStatus::not_supported});
  const Address address = device_.allocate_used(1000_B, s0, {s1, s2});
  EXPECT_EQ(calls_of_free(address),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "ctx_record 0 e1", "device_sync 0",
                   "stream_ctx 0 s0x52", "event_record 0 s0x52 e1"}));
  EXPECT_TRUE(device_.is_pending(address));
  EXPECT_EQ(device_.queued(), 1u);
}

TEST_F(FencingTest, ThePerThreadStreamOfAnotherThreadIsFencedByItsContext) {
  std::uint64_t theirs = 0;
  std::thread([&] { theirs = this_thread_number(); }).join();
  const Address address = device_.allocate(1000_B);
  device_.record(address, per_thread_stream(theirs), 1);
  EXPECT_EQ(calls_of_free(address), (Calls{"event_create 1", "ctx_record 1 e1"}));
}

TEST_F(FencingTest, EventsAreReusedLastInFirstOut) {
  const Address address = device_.allocate_used(1000_B, s0, {s1, s2, s3});
  device_.free(address);
  finish_all();  // e1, e2, e3 in this order.
  const Address same = device_.allocate_used(1000_B, s0, {s1, s2});
  EXPECT_EQ(calls_of_free(same), (Calls{"stream_ctx 0 s0x51", "event_record 0 s0x51 e3",
                                        "stream_ctx 0 s0x52", "event_record 0 s0x52 e2"}));
  EXPECT_EQ(driver().events(), 3u);
}

TEST_F(FencingTest, EachDeviceAndContextHasAPoolOfItsOwn) {
  driver().set_context(0x51, 7);
  driver().set_context(0x53, 9);
  const Address address = device_.allocate_used(1000_B, s0, {s1, s2, s3});
  device_.record(address, s1, 1);
  device_.free(address);
  finish_all();
  const Address same = device_.allocate_used(1000_B, s0, {s3, s2, s1});
  device_.record(same, s1, 1);
  EXPECT_EQ(calls_of_free(same),
            (Calls{"stream_ctx 0 s0x51", "event_record 0 s0x51 e1", "stream_ctx 0 s0x52",
                   "event_record 0 s0x52 e2", "stream_ctx 0 s0x53", "event_record 0 s0x53 e3",
                   "stream_ctx 1 s0x51", "event_record 1 s0x51 e4"}));
}

// --- failures ---

// Calls of a free with three uses, the second by a stream that is gone; each fails in its turn.
TEST_F(FencingTest, AFailureAtAnyCallChangesNothing) {
  const Calls all{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1",
                  "stream_ctx 0 s0x52", "event_create 0", "ctx_record 0 e2",
                  "stream_ctx 0 s0x53", "event_create 0", "event_record 0 s0x53 e3"};
  for (std::size_t nth = 0; nth < all.size(); ++nth) {
    DeviceInTest device;
    const Address address = device.allocate_used(1000_B, s0, {s1, s2, s3});
    const LiveBlocks live = device.live();
    const DeviceStats stats = device.stats();
    const std::vector<StreamKey> uses = device.uses(address);
    std::vector<CudaStatus> answers(nth, ok);
    if (nth > 3) answers[3] = no_stream;
    answers.push_back(refused);
    device.driver().answer(answers);
    device.calls();
    const Error error = error_of(device.try_free(address));
    EXPECT_EQ(error.code, ErrorCode::cuda_error) << nth;
    EXPECT_EQ(error.cuda_code, 999);
    EXPECT_EQ(device.calls(), Calls(all.begin(), all.begin() + static_cast<long>(nth) + 1));
    EXPECT_EQ(device.live(), live);
    EXPECT_EQ(device.stats(), stats);
    EXPECT_EQ(device.uses(address), uses);
    EXPECT_EQ(device.queued(), 0u);
    device.free(address);  // It goes on as if nothing had been.
    EXPECT_EQ(device.queued(), 3u);
    EXPECT_EQ(device.driver().events(), 3u);
  }
}

// e1, e2 and e3 were taken; they went back in that order, so that the last is taken first.
TEST_F(FencingTest, AfterAFailureEventsGoBackInTheOrderInWhichTheyWereTaken) {
  for (const bool is_context : {false, true}) {
    DeviceInTest device;
    const Address address = device.allocate_used(1000_B, s0, {s1, s2, s3});
    if (is_context) {
      device.driver().answer(DriverCall::stream_ctx, {ok, ok, no_stream});
      device.driver().answer(DriverCall::ctx_record, {refused});
    } else {
      device.driver().answer(DriverCall::event_record, {ok, ok, refused});
    }
    EXPECT_TRUE(device.try_free(address).failed());
    device.calls();
    device.free(address);
    EXPECT_EQ(device.calls(),
              (Calls{"stream_ctx 0 s0x51", "event_record 0 s0x51 e3", "stream_ctx 0 s0x52",
                     "event_record 0 s0x52 e2", "stream_ctx 0 s0x53", "event_record 0 s0x53 e1"}));
  }
}

TEST_F(FencingTest, AWaitForTheDeviceThatFailsChangesNothing) {
  const Address address = device_.allocate_used(1000_B, s0, {s1, s2});
  driver().answer(DriverCall::stream_ctx, {ok, no_stream});
  driver().answer(DriverCall::ctx_record, {CudaStatus::not_supported});
  driver().answer(DriverCall::device_sync, {refused});
  const Error error = error_of(device_.try_free(address));
  EXPECT_NE(error.message.find("device_sync"), std::string::npos) << error.message;
  EXPECT_EQ(device_.uses(address).size(), 2u);
  EXPECT_EQ(device_.queued(), 0u);
}

TEST_F(FencingTest, TheFailureNamesTheCallTheStreamAndTheDevice) {
  const Address address = device_.allocate(1000_B);
  device_.record(address, s1, 1);
  driver().answer(DriverCall::event_record, {refused});
  const std::string message = error_of(device_.try_free(address)).message;
  for (const char* words : {"event_record", "stream 0x51", "device 1", "unknown", "999"}) {
    EXPECT_NE(message.find(words), std::string::npos) << words << " in: " << message;
  }
}

// --- free_on ---

TEST_F(FencingTest, FreeOnIsAUseAndAFree) {
  const Address address = device_.allocate_used(1000_B, s0, {s2});
  calls();
  EXPECT_TRUE(device_.free_on(address, s1));
  EXPECT_EQ(calls(), (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1",
                            "stream_ctx 0 s0x52", "event_create 0", "event_record 0 s0x52 e2"}));
  EXPECT_TRUE(device_.is_pending(address));
}

TEST_F(FencingTest, FreeOnTheBlocksOwnStreamIsAFree) {
  const Address address = device_.allocate(1000_B, s1);
  calls();
  EXPECT_TRUE(device_.free_on(address, s1));
  EXPECT_EQ(calls(), Calls{});
  EXPECT_FALSE(device_.is_pending(address));
}

TEST_F(FencingTest, FreeOnThatFailsLeavesTheUsesAsTheyWere) {
  const Address address = device_.allocate_used(1000_B, s0, {s2});
  const std::vector<StreamKey> uses{{0, s2}};
  for (const StreamId user : {s1, s2, s3}) {
    driver().answer(DriverCall::event_record, {refused});
    EXPECT_TRUE(device_.free_on(address, user).failed());
    EXPECT_EQ(device_.uses(address), uses);
  }
}

// --- what can be freed, or used, no more ---

TEST_F(FencingTest, AFreedBlockThatWaitsIsNotLive) {
  const Address address = device_.allocate_used(1000_B, s0, {s1});
  device_.free(address);
  calls();
  for (const auto& result : {device_.try_free(address), device_.free_on(address, s1),
                             device_->record_stream(address, {s1, {}})}) {
    EXPECT_EQ(error_of(result).code, ErrorCode::invalid_argument);
    EXPECT_NE(error_of(result).message.find("waits for other streams"), std::string::npos);
  }
  EXPECT_EQ(calls(), Calls{});
  EXPECT_TRUE(device_.is_pending(address));
}

}  // namespace
}  // namespace cairn
