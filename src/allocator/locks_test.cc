// That every operation has the device's lock: whenever it asks the driver, and against whoever has
// it already.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include "allocator/device_in_test.h"

namespace cairn {
namespace {

using namespace literals;

// While the device is held, a free that takes a lane alone does not come to pass; that is how each
// call of the driver looks whether it is.
class LocksTest : public testing::Test {
 protected:
  LocksTest() : live_(allocate_apart()) {
    reach_a_peak();
    watch();
  }
  // With the device let go, the look would find it so.
  ~LocksTest() override {
    device_.driver().during_each({});
    EXPECT_TRUE(device_->free_unused(live_));
  }

  // Where no other segment is taken for its own (LaneHints).
  Address allocate_apart() {
    device_.driver().next_address(ScriptedDriver::segment(1) + 1_GiB);
    return device_.allocate(512_B, s3);
  }

  // Near a peak a free needs the whole device, and would wait for another reason.
  void reach_a_peak() {
    std::array<Address, 8> blocks;
    for (Address& block : blocks) block = device_.allocate(1_KiB, s3);
    for (const std::size_t first : {0u, 1u})
      for (std::size_t i = first; i < blocks.size(); i += 2) device_.free(blocks[i]);
  }

  void watch() {
    device_.driver().during_each([this] {
      ++looks_;
      EXPECT_FALSE(device_->free_unused(live_)) << "the driver is asked without the lock";
    });
  }
  // How many calls of the driver `act` makes, each of them under the lock.
  int looks_of(const std::function<void()>& act) {
    const int before = looks_;
    act();
    return looks_ - before;
  }

  // A thread that begins `act` while another has the device does not end before it is let go.
  void expect_waits(const std::string& what, const std::function<void()>& act) {
    std::atomic<bool> began = false;
    std::atomic<bool> ended = false;
    std::thread other;
    device_->inspect([&](const Heap&) {
      other = std::thread([&] {
        began = true;
        act();
        ended = true;
      });
      while (!began) std::this_thread::yield();
      for (int i = 0; i < 2000; ++i) std::this_thread::yield();
      EXPECT_FALSE(ended) << what << " does not wait for who has the device";
    });
    other.join();
  }

  DeviceInTest device_;
  Address live_;
  int looks_ = 0;
};

TEST_F(LocksTest, TheDriverIsAskedForMemoryUnderTheLock) {
  EXPECT_EQ(looks_of([&] { device_.allocate(30_MiB); }), 1);
}

TEST_F(LocksTest, EventsAreRecordedAndLookedAtUnderTheLock) {
  const Address used = device_.allocate_used(1_KiB, s3, {s1, s2});
  EXPECT_GE(looks_of([&] { device_.free(used); }), 4);
  EXPECT_EQ(looks_of([&] { EXPECT_TRUE(device_.process_events()); }), 2);
  const Address other = device_.allocate(1_KiB, s3);
  EXPECT_GE(looks_of([&] { EXPECT_TRUE(device_.free_on(other, s1)); }), 1);
  const Address another = device_.allocate_used(1_KiB, s3, {s2});
  EXPECT_GE(looks_of([&] { EXPECT_TRUE(device_.forget(s2)); }), 1);
  device_.driver().finish_all();
  device_.free(another);
}

TEST_F(LocksTest, MemoryGoesBackUnderTheLock) {
  device_.free(device_.allocate(30_MiB));
  EXPECT_GE(looks_of([&] { EXPECT_TRUE(device_.empty_cache()); }), 1);
}

TEST_F(LocksTest, ARequestThatFindsNothingFailsUnderTheLock) {
  device_.driver().answer(DriverCall::malloc, {oom, oom, oom});
  EXPECT_GE(looks_of([&] { EXPECT_FALSE(device_.try_allocate(30_MiB)); }), 3);
}

TEST_F(LocksTest, EveryOperationWaitsForWhoHasTheDevice) {
  const Address block = device_.allocate(1_KiB);
  const Address more = device_.allocate(1_KiB);
  const UserStream user{s1, {}};
  const BlockCheck check{1_KiB, s0};
  expect_waits("allocate", [&] { EXPECT_TRUE(device_->allocate({s2, 1_KiB})); });
  expect_waits("holds", [&] { EXPECT_TRUE(device_->holds(block)); });
  expect_waits("record_stream", [&] { EXPECT_TRUE(device_->record_stream(block, user)); });
  expect_waits("free", [&] { EXPECT_TRUE(device_->free(block, &check)); });
  expect_waits("free_on", [&] { EXPECT_TRUE(device_->free_on(more, user)); });
  expect_waits("process_events", [&] { EXPECT_TRUE(device_->process_events()); });
  expect_waits("forget_stream", [&] { EXPECT_TRUE(device_->forget_stream({0, s1})); });
  expect_waits("empty_cache", [&] { EXPECT_TRUE(device_->empty_cache()); });
}

TEST_F(LocksTest, EveryQuestionWaitsForWhoHasTheDevice) {
  expect_waits("lost", [&] { EXPECT_FALSE(device_->lost()); });
  expect_waits("memory_fraction", [&] { EXPECT_EQ(device_->memory_fraction(), 1.0); });
  expect_waits("stats", [&] { EXPECT_EQ(device_->stats().allocation.all.current, 1); });
  expect_waits("map", [&] { EXPECT_EQ(device_->map().size(), 1u); });
  expect_waits("inspect", [&] { device_->inspect([](const Heap&) {}); });
}

TEST_F(LocksTest, EverySettingWaitsForWhoHasTheDevice) {
  expect_waits("set_memory_fraction", [&] { device_->set_memory_fraction(0.5); });
  expect_waits("reconfigure", [&] { device_->reconfigure({}); });
  expect_waits("reset_peak_stats", [&] { device_->reset_peak_stats(); });
  expect_waits("reset_accumulated_stats", [&] { device_->reset_accumulated_stats(); });
  expect_waits("note_failure", [&] { device_->note_failure(refused); });
  device_.driver().during_each({});
  const Address given = *device_.driver().malloc(0, 2_MiB);
  watch();
  const SegmentLayout layout{{given, 2_MiB}, PoolKind::small, s1, {{2_MiB}}};
  expect_waits("adopt_segment", [&] { device_->adopt_segment(layout); });
}

// While the driver is asked without the lock, the host's memory ends, and another thread has the
// device.
TEST(Locks, ARequestIsWithdrawnUnderTheLock) {
  Options options;
  options.release_lock_on_cudamalloc = true;
  DeviceInTest device(options);
  std::atomic<bool> asks = false;
  std::atomic<bool> is_held = false;
  std::atomic<bool> ended = false;
  device.driver().during_malloc([&] {
    asks = true;
    while (!is_held) std::this_thread::yield();
    throw std::bad_alloc();
  });
  std::thread other([&] {
    EXPECT_THROW(static_cast<void>(device->allocate({s0, 30_MiB})), std::bad_alloc);
    ended = true;
  });
  while (!asks) std::this_thread::yield();
  device->inspect([&](const Heap&) {
    is_held = true;
    for (int i = 0; i < 2000; ++i) std::this_thread::yield();
    EXPECT_FALSE(ended);
  });
  other.join();
  EXPECT_EQ(device->inspect([](const DeviceState& state) { return state.asked; }), 0_B);
}

}  // namespace
}  // namespace cairn
