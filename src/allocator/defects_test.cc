// What `pytorch_defects:True` switches back, row by row of src/heap/README.md. Each test fails
// where the row's switch is not looked at.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

Options with_defects() {
  Options options;
  options.pytorch_defects = true;
  return options;
}

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

// One segment of 20 MiB, of which 9 MiB wait for an event, and a small one that is free.
class ShortOfMemory : public testing::Test {
 protected:
  ShortOfMemory() {
    const Address waits = device_.allocate_used(9_MiB, s0, {s1});
    device_.allocate(9_MiB);
    device_.free(device_.allocate(1_KiB, s2));
    device_.free(waits);
    device_.calls();
    device_.driver().answer(DriverCall::malloc,
                            {CudaStatus::out_of_memory, CudaStatus::out_of_memory});
  }

  DeviceInTest device_{with_defects()};
};

// --- the setting itself ---

TEST(Defects, AreRefusedWhereStreamsGoByTheDriversIds) {
  ScriptedDriver driver;
  try {
    Allocator::from_settings(driver, "pytorch_defects:True,stream_identity:id");
    ADD_FAILURE();
  } catch (const Unsupported& error) {
    const std::string words = error.what();
    EXPECT_NE(words.find("stream_identity:id with pytorch_defects:True"), std::string::npos)
        << words;
  }
}

TEST(Defects, CannotBeMended) {
  ScriptedDriver driver;
  Allocator allocator = Allocator::from_settings(driver, "pytorch_defects:True");
  allocator.reconfigure("pytorch_defects:True,max_split_size_mb:64");
  EXPECT_THROW(allocator.reconfigure("pytorch_defects:False"), Unsupported);
}

// --- V3 ---

TEST_F(ShortOfMemory, V3TheCacheIsNotSearchedAfterTheWait) {
  EXPECT_TRUE(device_.try_allocate(9_MiB).failed());
  EXPECT_EQ(device_.calls(), (Calls{"event_query 0 e1", "malloc 0 20MiB", "event_sync 0 e1",
                                    "free 0 #2", "malloc 0 20MiB", "mem_info 0"}));
  EXPECT_EQ(device_.stats().num_alloc_retries, 1);
  EXPECT_EQ(device_.stats().num_ooms, 1);
}

// --- V4 ---

TEST_F(ShortOfMemory, V4TheCacheIsNotSearchedAfterTheRelease) {
  EXPECT_TRUE(device_.try_allocate(9_MiB).failed());
  EXPECT_EQ(device_.stats().num_device_free, 1);
  EXPECT_EQ(device_.stats().num_ooms, 1);
  EXPECT_TRUE(device_.try_allocate(9_MiB)) << "it was there all the time";
}

// --- V5 ---

TEST(Defects, V5MemoryGoesBackWithoutAWait) {
  Options options = with_defects();
  {
    DeviceInTest device(options);
    device.free(device.allocate(1_KiB, s1));
    device.calls();
    EXPECT_TRUE(device.empty_cache());
    EXPECT_EQ(device.calls(), Calls{"free 0 #1"});
  }
  options.garbage_collection_threshold = 0.1;
  DeviceInTest device(options, 1, 100_MiB);
  device->set_memory_fraction(0.5);
  device.free(device.allocate(30_MiB, s1));
  device.calls();
  EXPECT_TRUE(device.try_allocate(32_MiB, s2));
  EXPECT_EQ(device.calls(), (Calls{"free 0 #1", "malloc 0 32MiB"}));
}

TEST(Defects, V5NorDoesTheEndWait) {
  ScriptedDriver driver;
  {
    Allocator allocator(driver, with_defects());
    allocator.free(allocator.allocate({1000, 0, stream(0x51)}));
    driver.calls();
  }
  EXPECT_EQ(driver.calls(), Calls{"free 0 #1"});
}

// --- V6 ---

TEST(Defects, V6TheSameHandleOfAnotherDeviceIsNoUse) {
  DeviceInTest device(with_defects(), 2);
  const Address a = device.allocate(1_KiB);
  device.record(a, s0, 1);
  EXPECT_TRUE(device.uses(a).empty());
  device.record(a, s1, 1);
  EXPECT_EQ(device.uses(a), (std::vector<StreamKey>{{1, s1}}));
}

// --- V7 ---

template <class Act>
void on_another_thread(Act&& act) {
  std::thread(std::forward<Act>(act)).join();
}

TEST(Defects, V7AStreamThatIsForgottenIsStillItsHandle) {
  ScriptedDriver driver;
  Allocator allocator(driver, with_defects());
  void* p = allocator.allocate({1000, 0, stream(0x51)});
  void* q = allocator.allocate({1000});
  allocator.record_stream(q, stream(0x51));
  allocator.free(p);
  driver.calls();
  allocator.forget_stream(0, stream(0x51));
  EXPECT_EQ(driver.calls(), Calls{});
  EXPECT_EQ(allocator.allocate({1000, 0, stream(0x51)}), p);
  allocator.free(q);
  EXPECT_EQ(driver.calls(),
            (Calls{"stream_ctx 0 s0x51", "event_create 0", "event_record 0 s0x51 e1"}));
}

TEST(Defects, V7DefaultStreamsDoNotEndAllTheSame) {
  ScriptedDriver driver;
  Allocator allocator(driver, with_defects());
  for (const std::uintptr_t handle : {0U, 1U, 2U}) {
    Error why;
    EXPECT_FALSE(allocator.try_forget_stream(0, stream(handle), &why));
    EXPECT_NE(why.message.find("default stream"), std::string::npos) << why.message;
  }
  EXPECT_FALSE(allocator.try_forget_stream(1, stream(0x51)));
}

TEST(Defects, V7ThePerThreadHandleIsOneStreamOfAllThreads) {
  ScriptedDriver driver;
  Allocator allocator(driver, with_defects());
  void* p = allocator.allocate({1000, 0, stream(2)});
  EXPECT_EQ(allocator.block_map(0).front().stream, 2U);
  on_another_thread([&] {
    allocator.record_stream(p, stream(2));
    EXPECT_TRUE(allocator.try_free(p, 1000, stream(2)));
    EXPECT_EQ(allocator.allocate({1000, 0, stream(2)}), p);
  });
  EXPECT_EQ(driver.calls(), Calls{"malloc 0 2MiB"});
}

// --- V9 ---

TEST(Defects, V9AnEventIsRecordedOnThePerThreadStreamOfWhoeverFrees) {
  ScriptedDriver driver;
  Allocator allocator(driver, with_defects());
  void* p = allocator.allocate({1000});
  allocator.record_stream(p, stream(2));
  driver.calls();
  on_another_thread([&] { allocator.free(p); });
  EXPECT_EQ(driver.calls(), (Calls{"event_create 0", "event_record 0 s0x2 e1"}));
}

TEST(Defects, V9AHandleThatIsDeadIsAnError) {
  DeviceInTest device(with_defects());
  const Address a = device.allocate_used(1_KiB, s0, {s1});
  for (const DriverCall call : {DriverCall::stream_ctx, DriverCall::event_record}) {
    device.driver().answer(call, {CudaStatus::invalid_handle});
    device.calls();
    const auto freed = device.try_free(a);
    ASSERT_TRUE(freed.failed());
    const Error& error = freed.error();
    EXPECT_EQ(error.code, ErrorCode::cuda_error);
    EXPECT_EQ(error.cuda_code, static_cast<int>(CudaStatus::invalid_handle));
    for (const std::string& made : device.calls()) {
      EXPECT_EQ(made.find("ctx_record"), std::string::npos) << made;
    }
  }
  EXPECT_EQ(device.state_of(a), BlockState::active_allocated);
  EXPECT_EQ(device.uses(a), (std::vector<StreamKey>{{0, s1}}));
  device.free(a);
  EXPECT_TRUE(device.is_pending(a));
}

// --- V10 ---

TEST(Defects, V10AUseOfWhatIsNotLiveIsNothing) {
  ScriptedDriver driver;
  Allocator allocator(driver, with_defects());
  void* p = allocator.allocate({1000});
  void* const inside = static_cast<char*>(p) + 512;
  for (void* const unknown : {reinterpret_cast<void*>(0x1000), inside}) {
    EXPECT_TRUE(allocator.try_record_stream(unknown, stream(0x51)));
    EXPECT_FALSE(allocator.try_free_on(unknown, stream(0x51)));
  }
  allocator.free(p);
  EXPECT_TRUE(allocator.try_record_stream(p, stream(0x51)));
  EXPECT_FALSE(allocator.try_record_stream(p, stream(0x51), 1)) << "there is no such device";
  EXPECT_EQ(driver.calls(), Calls{"malloc 0 2MiB"});
}

}  // namespace
}  // namespace cairn
