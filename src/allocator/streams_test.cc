// Which streams are one, and how the driver is told of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "allocator/device_in_test.h"
#include "base/thread_number.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

Options by_id() {
  Options options;
  options.stream_identity = StreamIdentity::id;
  return options;
}

template <class Act>
void on_another_thread(Act&& act) {
  std::thread(std::forward<Act>(act)).join();
}

Error refused_words(Allocator& allocator, void* p, Stream user) {
  Error why;
  EXPECT_FALSE(allocator.try_record_stream(p, user, Allocator::block_device, &why));
  return why;
}

// --- names ---

TEST(StreamNames, AHandleThatIsAnothersIdNamesAnotherStream) {
  ScriptedDriver driver;
  driver.set_id(0x60, 0x70);
  Allocator allocator(driver, by_id());
  void* p = allocator.allocate({1000, 0, stream(0x60)});
  allocator.free(p);
  EXPECT_NE(allocator.allocate({1000, 0, stream(0x70)}), p);
  EXPECT_EQ(allocator.allocate({1000, 0, stream(0x60)}), p);
}

TEST(StreamNames, BothOfTheLegacyDefaultStreamAreOne) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 0, nullptr});
  allocator.free(p, 1000, stream(1));
  EXPECT_EQ(allocator.allocate({1000, 0, stream(1)}), p);
  allocator.record_stream(p, nullptr);  // Its own stream.
  allocator.free(p, 1000, nullptr);
  EXPECT_EQ(allocator.block_map(0).front().stream, 0U);
  EXPECT_EQ(driver.calls(), Calls{"malloc 0 2MiB"});
}

TEST(StreamNames, AllOthersAreTheirOwn) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 0, stream(2)});
  allocator.free(p);
  EXPECT_NE(allocator.allocate({1000, 0, nullptr}), p);
  EXPECT_NE(allocator.allocate({1000, 0, stream(3)}), p);
  EXPECT_EQ(allocator.allocate({1000, 0, stream(2)}), p);
}

TEST(StreamNames, TheHighestBitsNameNoStream) {
  for (const Options& options : {Options{}, by_id()}) {
    ScriptedDriver driver;
    Allocator allocator(driver, options);
    void* p = allocator.allocate({1000});
    driver.calls();
    for (const int bit : {61, 62, 63}) {
      const auto handle = std::uintptr_t{1} << bit | 0x51;
      Error why;
      EXPECT_EQ(allocator.try_allocate({1000, 0, stream(handle)}, &why), nullptr);
      EXPECT_EQ(why.code, ErrorCode::invalid_argument);
      EXPECT_NE(why.message.find("0051"), std::string::npos) << why.message;
      EXPECT_EQ(refused_words(allocator, p, stream(handle)).message, why.message);
      EXPECT_FALSE(allocator.try_free_on(p, stream(handle)));
      EXPECT_FALSE(allocator.try_free(p, 1000, stream(handle)));
      EXPECT_FALSE(allocator.try_forget_stream(0, stream(handle)));
    }
    EXPECT_EQ(driver.calls(), Calls{});
    const std::uintptr_t highest = (std::uintptr_t{1} << 61) - 1;
    driver.set_id(highest, highest);
    EXPECT_NE(allocator.allocate({1000, 0, stream(highest)}), nullptr);
    EXPECT_TRUE(allocator.try_free(p));
  }
}

// --- per-thread default streams ---

TEST(PerThreadStreams, HandleTwoIsAnotherStreamInEachThread) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* mine = allocator.allocate({1000, 0, stream(2)});
  allocator.free(mine);
  on_another_thread([&] {
    void* theirs = allocator.allocate({1000, 0, stream(2)});
    EXPECT_NE(theirs, mine);
    EXPECT_FALSE(allocator.try_free(theirs, 999, stream(2)));
    allocator.free(theirs, 1000, stream(2));
    EXPECT_EQ(allocator.allocate({1000, 0, stream(2)}), theirs);
  });
  EXPECT_EQ(allocator.allocate({1000, 0, stream(2)}), mine);
  const BlockMap map = allocator.block_map(0);
  ASSERT_EQ(map.size(), 2U);
  EXPECT_EQ(map[0].stream, per_thread_stream(this_thread_number()).value);
  EXPECT_NE(map[1].stream, map[0].stream);
  EXPECT_TRUE(is_per_thread({map[1].stream}));
}

TEST(PerThreadStreams, ACheckedFreeKnowsThatItIsAnotherThreads) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* mine = allocator.allocate({1000, 0, stream(2)});
  on_another_thread([&] {
    Error why;
    EXPECT_FALSE(allocator.try_free(mine, 1000, stream(2), &why));
    EXPECT_EQ(why.code, ErrorCode::invalid_argument);
    EXPECT_TRUE(allocator.try_free(mine));
  });
}

// The driver can be told of it by the thread itself alone; by others of the whole context.
TEST(PerThreadStreams, AUseIsFencedByWhoeverFrees) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  void* p = allocator.allocate({1000});
  void* q = allocator.allocate({1000});
  driver.calls();
  allocator.record_stream(p, stream(2));
  allocator.record_stream(q, stream(2));
  allocator.free(p);
  EXPECT_EQ(driver.calls(), (Calls{"event_create 0", "event_record 0 s0x2 e1"}));
  on_another_thread([&] { allocator.free(q); });
  EXPECT_EQ(driver.calls(), (Calls{"event_create 0", "ctx_record 0 e2"}));
}

TEST(PerThreadStreams, OfAThreadThatIsGoneMemoryGoesBackAfterTheDevice) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  on_another_thread([&] { allocator.free(allocator.allocate({1000, 0, stream(2)})); });
  allocator.free(allocator.allocate({1000, 0, stream(2)}));
  driver.calls();
  allocator.empty_cache();
  EXPECT_EQ(driver.calls().size(), 4U);  // The order of the two depends on the threads' numbers.
  EXPECT_TRUE(driver.out().empty());
  on_another_thread([&] { allocator.free(allocator.allocate({1000, 0, stream(2)})); });
  driver.calls();
  allocator.empty_cache();
  EXPECT_EQ(driver.calls(), (Calls{"device_sync 0", "free 0 #3"}));
}

// --- streams by the driver's id ---

TEST(StreamsById, TheDriverIsAskedAtEveryCallThatNamesOne) {
  ScriptedDriver driver(2);
  Allocator allocator(driver, by_id());
  void* p = allocator.allocate({1000, 1, stream(0x51)});
  EXPECT_EQ(allocator.block_map(1).front().stream, 0x1051U);
  allocator.record_stream(p, stream(0x52));
  allocator.record_stream(p, stream(0x51));
  allocator.record_stream(p, stream(0x53), 0);
  EXPECT_FALSE(allocator.try_free(p, 1000, stream(0x52)));
  EXPECT_FALSE(allocator.try_free(p, 999, stream(0x51)));
  EXPECT_EQ(driver.calls(),
            (Calls{"stream_id 1 s0x51", "malloc 1 2MiB", "stream_id 1 s0x52", "stream_id 1 s0x51",
                   "stream_id 0 s0x53", "stream_id 1 s0x52", "stream_id 1 s0x51"}));
  allocator.free_on(p, stream(0x54));
  EXPECT_EQ(
      driver.calls(),
      (Calls{"stream_id 1 s0x54",  // Named,
             "stream_id 0 s0x53", "stream_ctx 0 s0x53", "event_create 0", "event_record 0 s0x53 e1",
             "stream_id 1 s0x52", "stream_ctx 1 s0x52", "event_create 1", "event_record 1 s0x52 e2",
             "stream_id 1 s0x54", "stream_ctx 1 s0x54", "event_create 1",  // and reached.
             "event_record 1 s0x54 e3"}));
}

TEST(StreamsById, DefaultStreamsAreKnownWithoutAsking) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  void* p = allocator.allocate({1000, 0, stream(2)});
  allocator.record_stream(p, stream(1));
  allocator.free(p, 1000, stream(2));
  EXPECT_EQ(driver.calls(), (Calls{"malloc 0 2MiB", "event_create 0", "event_record 0 s0x1 e1"}));
}

TEST(StreamsById, TwoHandlesOfOneIdAreOneStream) {
  ScriptedDriver driver;
  driver.set_id(0x52, 0x1051);
  Allocator allocator(driver, by_id());
  void* p = allocator.allocate({1000, 0, stream(0x51)});
  allocator.free(p, 1000, stream(0x52));
  EXPECT_EQ(allocator.allocate({1000, 0, stream(0x52)}), p);
}

// The handle names a new stream; nobody said that the old one has ended.
TEST(StreamsById, AHandleThatWasGivenAgainNamesAnotherStream) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  void* old = allocator.allocate({1000, 0, stream(0x51)});
  void* used = allocator.allocate({1000});
  allocator.record_stream(used, stream(0x51));
  allocator.free(old);
  driver.set_id(0x51, 0x2051);
  void* fresh = allocator.allocate({1000, 0, stream(0x51)});
  EXPECT_NE(fresh, old);
  driver.calls();
  allocator.free(used);  // The use is the old stream's.
  EXPECT_EQ(driver.calls(), (Calls{"event_create 0", "ctx_record 0 e1"}));
  allocator.free_on(allocator.allocate({1000}), stream(0x51));
  EXPECT_EQ(driver.calls(),
            (Calls{"event_query 0 e1", "stream_id 0 s0x51", "stream_id 0 s0x51",
                   "stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e2"}));
  allocator.free(fresh);
  driver.finish_all();
  allocator.process_events(0);
  driver.calls();
  allocator.empty_cache();
  EXPECT_EQ(driver.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #2", "device_sync 0", "free 0 #1",
                                   "stream_id 0 s0x51", "stream_sync 0 s0x51", "free 0 #3"}));
}

// Nobody has named the new stream yet: the driver knows whose the handle is.
TEST(StreamsById, AHandleThatWasGivenAgainUnheardOfIsNotTakenForTheOldStream) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  void* old = allocator.allocate({1000, 0, stream(0x51)});
  void* used = allocator.allocate({1000});
  allocator.record_stream(used, stream(0x51));
  driver.set_id(0x51, 0x2051);
  driver.calls();
  allocator.free(used);
  EXPECT_EQ(driver.calls(), (Calls{"stream_id 0 s0x51", "event_create 0", "ctx_record 0 e1"}));
  allocator.free(old);
  driver.finish_all();
  allocator.process_events(0);
  driver.calls();
  allocator.empty_cache();
  EXPECT_EQ(driver.calls(), (Calls{"stream_sync 0 s0x1", "free 0 #2", "stream_id 0 s0x51",
                                   "device_sync 0", "free 0 #1"}));
}

TEST(StreamsById, ADriverThatDoesNotSayWhoseAHandleIsEndsTheOperation) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  void* used = allocator.allocate({1000});
  allocator.record_stream(used, stream(0x51));
  driver.calls();
  driver.answer(DriverCall::stream_id, {CudaStatus::unknown, CudaStatus::invalid_handle});
  Error why;
  EXPECT_FALSE(allocator.try_free(used, &why));
  EXPECT_EQ(why.cuda_code, 999);
  EXPECT_EQ(driver.calls(), Calls{"stream_id 0 s0x51"});
  allocator.free(used);  // Nobody's now.
  EXPECT_EQ(driver.calls(), (Calls{"stream_id 0 s0x51", "event_create 0", "ctx_record 0 e1"}));
}

TEST(StreamsById, AStreamOfWhichTheDriverSaysNothingIsAFailure) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  void* p = allocator.allocate({1000});
  const auto expect_failure = [&](auto&& call) {
    driver.answer(DriverCall::stream_id, {no_stream});
    driver.calls();
    Error why;
    EXPECT_FALSE(call(&why));
    EXPECT_EQ(why.code, ErrorCode::cuda_error);
    EXPECT_EQ(why.cuda_code, 400);
    EXPECT_EQ(driver.calls(), Calls{"stream_id 0 s0x51"});
  };
  const Stream gone = stream(0x51);
  expect_failure(
      [&](Error* why) { return allocator.try_allocate({1000, 0, gone}, why) != nullptr; });
  expect_failure([&](Error* why) { return allocator.try_record_stream(p, gone, -1, why); });
  expect_failure([&](Error* why) { return allocator.try_free_on(p, gone, 0, why); });
  expect_failure([&](Error* why) { return allocator.try_free(p, 1000, gone, why); });
  expect_failure([&](Error* why) { return allocator.try_forget_stream(0, gone, why); });
  EXPECT_TRUE(allocator.try_free(p, 1000, nullptr));
}

TEST(StreamsById, AnIdThatCannotBeIsRefused) {
  ScriptedDriver driver;
  Allocator allocator(driver, by_id());
  for (const std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    driver.set_id(0x51, id);
    EXPECT_EQ(allocator.try_allocate({1000, 0, stream(0x51)}), nullptr);
  }
}

// --- what the caller got wrong ---

TEST(StreamsOfOthers, DevicesAreThoseOfTheDriver) {
  ScriptedDriver driver(2);
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 1});
  for (const int device : {-2, 2, 1000}) {
    Error why;
    EXPECT_FALSE(allocator.try_record_stream(p, stream(0x51), device, &why));
    EXPECT_EQ(why.code, ErrorCode::invalid_argument);
    EXPECT_NE(why.message.find("device " + std::to_string(device)), std::string::npos);
    EXPECT_FALSE(allocator.try_free_on(p, stream(0x51), device, &why));
    EXPECT_FALSE(allocator.try_forget_stream(device, stream(0x51), &why));
    EXPECT_FALSE(allocator.try_process_events(device, &why));
    EXPECT_EQ(why.code, ErrorCode::invalid_argument);
    EXPECT_TRUE(allocator.try_record_stream(nullptr, stream(0x51), device));  // Null does nothing.
    EXPECT_TRUE(allocator.try_free_on(nullptr, stream(0x51), device));
  }
  driver.calls();
  allocator.free(p);
  EXPECT_EQ(driver.calls(), Calls{});
}

TEST(StreamsOfOthers, TheSameHandleOfAnotherDeviceIsAUse) {
  ScriptedDriver driver(2);
  Allocator allocator(driver);
  void* p = allocator.allocate({1000, 0, stream(0x51)});
  driver.calls();
  allocator.record_stream(p, stream(0x51), 0);
  allocator.record_stream(p, stream(0x51), 1);
  allocator.free(p);
  EXPECT_EQ(driver.calls(),
            (Calls{"stream_ctx 1 s0x51", "event_create 1", "event_record 1 s0x51 e1"}));
}

}  // namespace
}  // namespace cairn
