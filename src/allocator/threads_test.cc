// Several host threads at one allocator. Made to be run under ThreadSanitizer as well: the memory
// is real, and threads write to what they were given.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "allocator/all_devices.h"
#include "allocator/device_in_test.h"
#include "cairn/allocator.h"

namespace cairn {
namespace {

using namespace literals;

// Memory of the host, and not much of it.
class HostDriver : public Driver {
 public:
  explicit HostDriver(Bytes memory) : free_{memory, memory} {}
  ~HostDriver() override { EXPECT_TRUE(sizes_.empty()); }

  int device_count() const override { return static_cast<int>(free_.size()); }

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    const std::lock_guard lock(mutex_);
    Bytes& left = free_[static_cast<std::size_t>(device)];
    if (size > left) return Failure{CudaStatus::out_of_memory};
    left -= size;
    void* memory = std::aligned_alloc(2 << 20, size.count);
    const Address address{reinterpret_cast<std::uintptr_t>(memory)};
    sizes_[address] = size;
    return address;
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    const std::lock_guard lock(mutex_);
    free_[static_cast<std::size_t>(device)] += sizes_.at(address);
    sizes_.erase(address);
    std::free(reinterpret_cast<void*>(address.value));
    return Done{};
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{}; }
  Bytes total_memory(DeviceIndex) const override { return 48_MiB; }

  // No work is ever put on a stream.
  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{1};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef) override { return ContextHandle{}; }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

 private:
  std::mutex mutex_;
  std::array<Bytes, 2> free_;
  std::map<Address, Bytes> sizes_;
};

struct Piece {
  std::uintptr_t begin;
  std::size_t size;
  unsigned char fill;
};

// The blocks that are live, whoever has them.
class LiveRanges {
 public:
  void add(const Piece& piece) {
    const std::lock_guard lock(mutex_);
    const auto above = pieces_.lower_bound(piece.begin);
    if (above != pieces_.end()) {
      EXPECT_LE(piece.begin + piece.size, above->first);
    }
    if (above != pieces_.begin()) {
      const Piece& below = std::prev(above)->second;
      EXPECT_LE(below.begin + below.size, piece.begin);
    }
    pieces_[piece.begin] = piece;
  }
  // Any one of them, which is then the caller's alone.
  bool take(std::size_t at, Piece& piece) {
    const std::lock_guard lock(mutex_);
    if (pieces_.empty()) return false;
    auto found = pieces_.begin();
    std::advance(found, static_cast<std::ptrdiff_t>(at % pieces_.size()));
    piece = found->second;
    pieces_.erase(found);
    return true;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return pieces_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, Piece> pieces_;
};

class Worker {
 public:
  Worker(Allocator& allocator, LiveRanges& live, unsigned char number)
      : allocator_(allocator), live_(live), number_(number), random_(number) {}

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::size_t choice = below(100);
      if (choice < 55) {
        allocate();
      } else if (choice < 97) {
        free_any();
      } else if (choice < 98) {
        EXPECT_TRUE(allocator_.try_empty_cache());
      } else {
        look(static_cast<int>(below(2)));
      }
    }
  }
  void free_any() {
    Piece piece{};
    if (!live_.take(below(1000), piece)) return;
    const auto* bytes = reinterpret_cast<const unsigned char*>(piece.begin);
    EXPECT_EQ(bytes[0], piece.fill);
    EXPECT_EQ(bytes[piece.size - 1], piece.fill);
    EXPECT_TRUE(allocator_.try_free(reinterpret_cast<void*>(piece.begin)));
  }

 private:
  void allocate() {
    static constexpr std::array<std::size_t, 6> sizes{1, 512, 4000, 70000, 1 << 20, 3 << 20};
    const std::size_t size = sizes[below(sizes.size())];
    const auto stream = reinterpret_cast<Stream>(std::uintptr_t{2} + below(3));
    Error why;
    void* memory = allocator_.try_allocate({size, static_cast<int>(below(2)), stream}, &why);
    if (memory == nullptr) {
      EXPECT_EQ(why.code, ErrorCode::out_of_memory);
      return;
    }
    const auto fill = static_cast<unsigned char>(number_ * 50 + below(50));
    auto* bytes = static_cast<unsigned char*>(memory);
    bytes[0] = bytes[size - 1] = fill;
    live_.add({reinterpret_cast<std::uintptr_t>(memory), size, fill});
  }
  void look(int device) {
    const DeviceStats stats = allocator_.stats(device);
    EXPECT_LE(stats.allocated_bytes.all.current, stats.reserved_bytes.all.current);
    std::uint64_t reserved = 0;
    for (const SegmentInfo& segment : allocator_.block_map(device)) reserved += segment.size_bytes;
    EXPECT_LE(reserved, (48_MiB).count);
  }
  std::size_t below(std::size_t n) { return random_() % n; }

  Allocator& allocator_;
  LiveRanges& live_;
  const unsigned char number_;
  std::mt19937_64 random_;
};

TEST(Threads, LiveBlocksNeverOverlapAndKeepWhatWasWritten) {
  HostDriver driver(48_MiB);
  Allocator allocator(driver);
  LiveRanges live;
  std::vector<std::thread> threads;
  for (unsigned char number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] { Worker(allocator, live, number).run(3000); });
  }
  for (std::thread& thread : threads) thread.join();

  const std::int64_t left = static_cast<std::int64_t>(live.size());
  EXPECT_EQ(allocator.stats(0).allocation.all.current + allocator.stats(1).allocation.all.current,
            left);
  EXPECT_GT(allocator.stats(0).num_alloc_retries, 0);  // Memory was short.
  EXPECT_GT(allocator.stats(0).num_ooms, 0);
  Worker last(allocator, live, 4);
  while (live.size() != 0) last.free_any();
  for (int device = 0; device < 2; ++device) {
    EXPECT_EQ(allocator.stats(device).allocated_bytes.all.current, 0);
    EXPECT_EQ(allocator.stats(device).requested_bytes.all.current, 0);
    EXPECT_EQ(allocator.stats(device).inactive_split.all.current, 0);
  }
}

// A thread and a stream each, in steps of known size: what all had at most is what the statistics
// may say at most, and what one had is what they must.
TEST(Threads, OnStreamsOfTheirOwnTheyLoseNoStatistic) {
  constexpr int threads = 3;
  constexpr std::int64_t most = 20;
  constexpr std::int64_t rounds = 500;
  HostDriver driver(48_MiB);
  Allocator allocator(driver);
  std::vector<std::thread> running;
  for (int t = 0; t < threads; ++t) {
    running.emplace_back([&allocator, t] {
      const auto stream = reinterpret_cast<Stream>(std::uintptr_t{16} + static_cast<unsigned>(t));
      std::vector<void*> mine;
      for (std::int64_t round = 0; round < rounds; ++round) {
        while (mine.size() < most) mine.push_back(allocator.allocate({1000, 0, stream}));
        while (mine.size() > static_cast<std::size_t>(round % most)) {
          allocator.free(mine.back());
          mine.pop_back();
        }
      }
      for (void* block : mine) allocator.free(block);
    });
  }
  for (std::thread& thread : running) thread.join();
  const DeviceStats stats = allocator.stats(0);
  EXPECT_EQ(stats.allocation.all.current, 0);
  EXPECT_EQ(stats.allocated_bytes.all.current, 0);
  EXPECT_EQ(stats.requested_bytes.all.current, 0);
  EXPECT_EQ(stats.inactive_split_bytes.all.current, 0);
  EXPECT_GE(stats.allocation.all.peak, most);
  EXPECT_LE(stats.allocation.all.peak, threads * most);
  EXPECT_EQ(stats.allocated_bytes.all.peak, stats.allocation.all.peak * 1024);
  EXPECT_EQ(stats.requested_bytes.all.peak, stats.allocation.all.peak * 1000);
  EXPECT_EQ(stats.allocated_bytes.all.allocated, stats.allocation.all.allocated * 1024);
  EXPECT_EQ(stats.allocation.all.allocated, stats.allocation.all.freed);
}

TEST(Threads, WhoMeetsTheWholeDeviceHeldTakesNoLaneOfIt) {
  ScriptedDriver driver;
  AllDevices devices(driver, {});
  const auto block = devices.allocate({1000});
  ASSERT_TRUE(block && devices.free(*block, nullptr));
  DeviceAllocator& device = devices.device(0);
  device.inspect([&](const Heap&) { EXPECT_EQ(devices.hit({1000}), Address{}); });
  EXPECT_EQ(devices.hit({1000}), *block);
  device.inspect([&](const Heap&) { EXPECT_FALSE(devices.free_unused(*block)); });
  EXPECT_TRUE(devices.free_unused(*block));
}

// One block, freed by four threads at once: one succeeds.
TEST(Threads, ADoubleFreeIsSeenByAllButOne) {
  ScriptedDriver driver;
  Allocator allocator(driver);
  for (int round = 0; round < 50; ++round) {
    void* p = allocator.allocate({1000});
    std::array<bool, 4> freed{};
    std::vector<std::thread> threads;
    for (bool& mine : freed) {
      threads.emplace_back([&allocator, &mine, p] { mine = allocator.try_free(p); });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(std::count(freed.begin(), freed.end(), true), 1);
  }
  EXPECT_EQ(allocator.stats(0).allocation.all, (Stat{0, 1, 50, 50}));
}

}  // namespace
}  // namespace cairn
