// When the host has no memory left, wherever that comes, a call fails and nothing is lost. Here
// every single allocation of host memory that the calls make fails once.
#include <gtest/gtest.h>

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

#include "allocator/all_devices.h"
#include "allocator/counting_driver.h"
#include "allocator/scripted_driver.h"
#include "cairn/allocator.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"
#include "testing/host_memory_in_test.h"

namespace cairn {
namespace {

using namespace literals;

Stream stream(std::uintptr_t handle) { return reinterpret_cast<Stream>(handle); }

void expect_sound(AllDevices& devices, const CountingDriver& driver) {
  const invariants::Recorder recorder;
  devices.device(0).inspect([&](const DeviceState& state) {
    invariants::check(state, invariants::Cost::heap);
    EXPECT_EQ(state.heap.segments().size(), driver.segments_out());
    EXPECT_EQ(state.asked, 0_B);
  });
  for (const auto& violation : recorder.violations()) ADD_FAILURE() << to_string(violation);
}

// What a call that failed must leave as it was.
struct Picture {
  explicit Picture(AllDevices& devices)
      : map(devices.device(0).map()), stats(devices.device(0).stats()) {
    devices.device(0).inspect([&](const DeviceState& state) {
      for (const auto& [key, queue] : state.queues.all()) queued.emplace_back(key, queue.size());
      for (const auto& [address, segment] : state.heap.segments()) {
        for (const Block* block = segment.first; block != nullptr; block = block->next) {
          const auto of_block = state.heap.uses(*block);
          uses.emplace_back(of_block.begin(), of_block.end());
        }
      }
    });
  }
  void expect_same(AllDevices& devices) const {
    const Picture now(devices);
    EXPECT_EQ(live_and_pending(), now.live_and_pending());
    EXPECT_EQ(stats, now.stats);
    EXPECT_EQ(uses, now.uses);
    EXPECT_EQ(queued, now.queued);
  }
  std::vector<std::pair<std::uint64_t, int>> live_and_pending() const {
    std::vector<std::pair<std::uint64_t, int>> blocks;
    for (const SegmentInfo& segment : map) {
      for (const BlockInfo& block : segment.blocks) {
        blocks.emplace_back(block.address, static_cast<int>(block.state));
      }
    }
    return blocks;
  }

  BlockMap map;
  DeviceStats stats;
  std::vector<std::vector<StreamKey>> uses;
  std::vector<std::pair<StreamKey, std::size_t>> queued;
};

// Does `act` with the first, second, ... allocation of host memory failing, until none is left to
// fail; looks at what each failure left. Gives how many failed.
template <class Act, class Look>
int fail_each_allocation(Act&& act, Look&& look) {
  for (int at = 1;; ++at) {
    allocations_until_failure = at;
    bool failed = false;
    try {
      act();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_until_failure = 0;
    look();
    if (!failed) return at - 1;
  }
}

TEST(HostMemory, AnAllocationThatFindsNoneChangesNothing) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  std::vector<Address> live;
  int failures = 0;
  // Enough blocks that slots, the live table, indexes and segments all have to grow.
  for (std::uint64_t i = 0; i < 700; ++i) {
    const Request request{(i % 5 + 1) << (i % 3 * 9), 0, reinterpret_cast<Stream>(i % 7 * 16)};
    Address address;
    live.reserve(live.size() + 1);
    failures += fail_each_allocation(
        [&] {
          address = *devices.allocate(request);
          live.push_back(address);
        },
        [&] { expect_sound(devices, driver); });
    ASSERT_EQ(live.size(), i + 1);
    ASSERT_FALSE(HasFailure()) << "request " << i;
  }
  EXPECT_GT(failures, 20);
  EXPECT_EQ(devices.device(0).stats().allocation.all.current, 700);
}

// Enough blocks of one stream that slots and live table grow while a cached block serves; with an
// alignment, while what lies before it is split off as well.
TEST(HostMemory, AHitThatFindsNoneChangesNothing) {
  for (const std::size_t alignment : {512u, 2048u}) {
    CountingDriver driver(4_GiB);
    AllDevices devices(driver, {});
    int failures = 0;
    for (int i = 0; i < 800; ++i) {
      const Request request{512, 0, stream(0x50), alignment};
      failures += fail_each_allocation([&] { ASSERT_TRUE(devices.allocate(request)); },
                                       [&] { expect_sound(devices, driver); });
      ASSERT_FALSE(HasFailure()) << "request " << i;
    }
    EXPECT_GT(failures, 5);
    EXPECT_EQ(devices.device(0).stats().allocation.all.current, 800);
  }
}

TEST(HostMemory, AFreeNeedsNone) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  std::vector<Address> live;
  for (std::size_t i = 0; i < 500; ++i) live.push_back(*devices.allocate({i * 977 + 1}));
  for (const Address address : live) {
    EXPECT_EQ(fail_each_allocation([&] { EXPECT_TRUE(devices.free(address, nullptr)); }, [] {}), 0);
  }
  expect_sound(devices, driver);
}

TEST(HostMemory, AReleaseThatFindsNoneCanBeDoneAgain) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  std::vector<Address> live;
  for (std::size_t i = 0; i < 40; ++i) live.push_back(*devices.allocate({11 << 20}));
  for (const Address address : live) EXPECT_TRUE(devices.free(address, nullptr));
  EXPECT_GT(fail_each_allocation([&] { EXPECT_TRUE(devices.empty_cache()); },
                                 [&] { expect_sound(devices, driver); }),
            0);
  EXPECT_EQ(driver.segments_out(), 0u);
}

// Does act(), which succeeds in the end; each failure on the way leaves all as it was.
template <class Act>
int fail_without_change(AllDevices& devices, const CountingDriver& driver, Act&& act) {
  const Picture before(devices);
  bool is_done = false;
  return fail_each_allocation(
      [&] {
        act();
        is_done = true;
      },
      [&] {
        expect_sound(devices, driver);
        if (!is_done) before.expect_same(devices);
      });
}

TEST(HostMemory, AUseThatFindsNoneIsNotListed) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  const Address address = *devices.allocate({1000});
  int failures = 0;
  for (std::uintptr_t user = 40; user > 8; --user) {
    failures += fail_without_change(devices, driver, [&] {
      EXPECT_TRUE(devices.record_stream(address, stream(user * 16), Allocator::block_device));
    });
  }
  EXPECT_GT(failures, 5);
  EXPECT_EQ(Picture(devices).uses.front().size(), 32u);
}

// Five streams in three contexts, so that pools, events and queues all have to be made.
TEST(HostMemory, AFreeOfAUsedBlockThatFindsNoneLeavesItLive) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  for (int round = 0; round < 12; ++round) {
    const Address address = *devices.allocate({1000});
    for (std::uintptr_t user = 3; user < 8; ++user) {
      ASSERT_TRUE(devices.record_stream(address, stream(user), Allocator::block_device));
    }
    EXPECT_GT(
        fail_without_change(devices, driver, [&] { EXPECT_TRUE(devices.free(address, nullptr)); }),
        5);
  }
  EXPECT_EQ(devices.device(0).stats().active.all.current, 12);
  driver.finish_events();
  EXPECT_TRUE(devices.process_events(0));
  EXPECT_EQ(devices.device(0).stats().active.all.current, 0);
}

TEST(HostMemory, AFreeOnThatFindsNoneKeepsTheUsesAsTheyWere) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  const Address used = *devices.allocate({1000});
  const Address unused = *devices.allocate({1000});
  ASSERT_TRUE(devices.record_stream(used, stream(9), Allocator::block_device));
  for (const Address address : {used, unused}) {
    EXPECT_GT(
        fail_without_change(
            devices, driver,
            [&] { EXPECT_TRUE(devices.free_on(address, stream(5), Allocator::block_device)); }),
        2);
  }
}

TEST(HostMemory, AStreamThatCannotBeForgottenStaysKnown) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  const Address of_other = *devices.allocate({1000});
  ASSERT_TRUE(devices.allocate({1000, 0, stream(7)}));
  ASSERT_TRUE(devices.record_stream(of_other, stream(7), Allocator::block_device));
  EXPECT_GT(fail_without_change(devices, driver,
                                [&] { EXPECT_TRUE(devices.forget_stream(0, stream(7))); }),
            2);
  EXPECT_EQ(Picture(devices).queued.front().first, (StreamKey{0, retired_stream(1)}));
}

// The words of a query that fails; what was done before is done, and its queue is gone.
TEST(HostMemory, ALookAtEventsThatFindsNoneLosesNoEvent) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  for (std::uintptr_t user = 5; user < 8; ++user) {
    const Address address = *devices.allocate({1000});
    ASSERT_TRUE(devices.free_on(address, stream(user), Allocator::block_device));
  }
  driver.finish_events();
  driver.break_query_of(2);
  EXPECT_GT(fail_each_allocation([&] { EXPECT_FALSE(devices.process_events(0)); },
                                 [&] { expect_sound(devices, driver); }),
            0);
  EXPECT_EQ(devices.device(0).stats().active.all.current, 1);
}

TEST(HostMemory, ACallbackThatCannotBeAddedIsNotThere) {
  CountingDriver driver(20_MiB);
  AllDevices devices(driver, {});
  int asked = 0;
  int told = 0;
  EXPECT_GT(fail_each_allocation(
                [&] { devices.callbacks().add([&](int) { return ++asked == 0; }); }, [] {}),
            0);
  EXPECT_GT(
      fail_each_allocation([&] { devices.callbacks().add([&](const Error&) { ++told; }); }, [] {}),
      0);
  EXPECT_TRUE(devices.allocate({30 << 20}).failed());
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(told, 1);
}

// A callback throws, the request fails, and there is no memory for the words of that: the next
// request asks the callbacks all the same.
TEST(HostMemory, AFailureWithoutMemoryForItsWordsLeavesNothingBehind) {
  CountingDriver driver(20_MiB);
  AllDevices devices(driver, {});
  int asked = 0;
  int told = 0;
  devices.callbacks().add([&](int) -> bool {
    ++asked;
    throw 1;
  });
  devices.callbacks().add([&](const Error&) { ++told; });
  const int failures =
      fail_each_allocation([&] { EXPECT_TRUE(devices.allocate({30 << 20}).failed()); },
                           [&] {
                             expect_sound(devices, driver);
                             const int asked_before = std::exchange(asked, 0);
                             EXPECT_LE(asked_before, 1);
                             EXPECT_TRUE(devices.allocate({30 << 20}).failed());
                             EXPECT_EQ(std::exchange(asked, 0), 1);
                             EXPECT_GE(std::exchange(told, 0), 1);
                           });
  EXPECT_GT(failures, 5);
}

TEST(HostMemory, AnAllocationThatAsksWithoutTheLockChangesNothing) {
  CountingDriver driver(4_GiB);
  Options options;
  options.release_lock_on_cudamalloc = true;
  AllDevices devices(driver, options);
  int failures = 0;
  for (std::uintptr_t i = 0; i < 100; ++i) {
    const Request request{3 << 20, 0, stream(16 * (i % 9))};
    Address address;
    failures += fail_each_allocation([&] { address = *devices.allocate(request); },
                                     [&] { expect_sound(devices, driver); });
    ASSERT_NE(address, Address{});
  }
  EXPECT_GT(failures, 20);
  EXPECT_EQ(devices.device(0).stats().allocation.all.current, 100);
}

// Another request takes the room that was made for the segment, while the driver is asked for it.
TEST(HostMemory, ASegmentForWhichThereIsNoRoomAnyMoreGoesBack) {
  int failures = 0;
  int returned = 0;
  for (int at = 1; at <= 40; ++at) {
    ScriptedDriver driver;
    Options options;
    options.release_lock_on_cudamalloc = true;
    AllDevices devices(driver, options);
    driver.during_malloc([&] {
      const int left = std::exchange(allocations_until_failure, 0);
      driver.during_malloc({});
      EXPECT_TRUE(devices.allocate({20 << 20, 0, stream(0x50)}));
      allocations_until_failure = left;
    });
    try {
      allocations_until_failure = at;
      static_cast<void>(devices.allocate({30 << 20, 0, stream(0x60)}));
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    allocations_until_failure = 0;
    EXPECT_EQ(driver.out().size(), devices.device(0).map().size()) << at;
    returned += static_cast<int>(std::ranges::count(driver.calls(), "free 0 #2"));
  }
  EXPECT_GT(failures, 3);
  EXPECT_GT(returned, 0);
}

// The room for a segment is made before the driver is asked for it.
TEST(HostMemory, WhereThereIsNoRoomForASegmentTheDriverIsNotAsked) {
  for (int at = 1;; ++at) {
    CountingDriver driver(4_GiB);
    AllDevices devices(driver, {});
    bool failed = false;
    try {
      allocations_until_failure = at;
      static_cast<void>(devices.allocate({30 << 20, 0, stream(0x50)}));
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    allocations_until_failure = 0;
    EXPECT_EQ(driver.segments_made(), failed ? 0u : 1u) << at;
    if (!failed) return;
  }
}

// Its waits fail, and there is no memory for the words of that.
TEST(HostMemory, TheEndOfAnAllocatorGivesEverythingBack) {
  for (int failing = 1; failing <= 12; ++failing) {
    CountingDriver driver(4_GiB);
    {
      AllDevices devices(driver, {});
      for (std::uintptr_t i = 0; i < 4; ++i) {
        const Address address = *devices.allocate({20 << 20, 0, stream(16 * i)});
        ASSERT_TRUE(devices.record_stream(address, stream(0x90), Allocator::block_device));
        ASSERT_TRUE(devices.free(address, nullptr));
        ASSERT_TRUE(devices.free(*devices.allocate({1 << 20, 0, stream(16 * i)}), nullptr));
      }
      driver.refuse_waits();
      allocations_until_failure = failing;
    }
    allocations_until_failure = 0;
    EXPECT_EQ(driver.segments_out(), 0U) << failing;
  }
}

TEST(HostMemory, TheFormThatDoesNotThrowSaysSo) {
  CountingDriver driver(4_GiB);
  Allocator allocator(driver);
  Error why;
  allocations_until_failure = 1;
  EXPECT_EQ(allocator.try_allocate({512}, &why), nullptr);
  EXPECT_EQ(allocations_until_failure, 0);
  EXPECT_EQ(why.code, ErrorCode::out_of_host_memory);
  EXPECT_EQ(why.cuda_code, 0);
  EXPECT_NE(allocator.try_allocate({512}, &why), nullptr);
}

}  // namespace
}  // namespace cairn
