// Host threads that share streams: they allocate, record uses, free what others allocated, and
// change limits, all at once and with little memory. Made to be run under ThreadSanitizer as well.
// CAIRN_THREAD_OPERATIONS in the environment says how many operations in all.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/units.h"
#include "cairn/allocator.h"
#include "driver/driver.h"

namespace cairn {
namespace {

using namespace literals;

constexpr std::uint64_t memory_bytes = std::uint64_t{64} << 20;

// Two devices of little memory, which nobody touches. An event is done when it was asked for often
// enough, or waited for. Only device 0 can record a whole context.
class BusyDriver final : public Driver {
 public:
  int device_count() const override { return 2; }
  Bytes total_memory(DeviceIndex) const override { return Bytes{memory_bytes}; }

  DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
    const std::lock_guard lock(mutex_);
    std::uint64_t& left = left_[static_cast<std::size_t>(device)];
    if (size.count > left) return Failure{CudaStatus::out_of_memory};
    left -= size.count;
    const Address address{next_address_};
    next_address_ += round_up(size, 2_MiB).count;
    sizes_[address] = size;
    return address;
  }
  DriverResult<Done> free(DeviceIndex device, Address address) override {
    const std::lock_guard lock(mutex_);
    const auto found = sizes_.find(address);
    if (found == sizes_.end()) return Failure{CudaStatus::invalid_value};
    left_[static_cast<std::size_t>(device)] += found->second.count;
    sizes_.erase(found);
    return Done{};
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
    const std::lock_guard lock(mutex_);
    return MemoryInfo{Bytes{left_[static_cast<std::size_t>(device)]}, Bytes{memory_bytes}};
  }

  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    const std::lock_guard lock(mutex_);
    const EventHandle event{++last_event_};
    queries_left_[event] = 0;
    return event;
  }
  DriverResult<Done> event_record(StreamRef, EventHandle event) override { return record(event); }
  DriverResult<Done> ctx_record(DeviceIndex device, EventHandle event) override {
    if (device == 1) return Failure{CudaStatus::not_supported};
    return record(event);
  }
  DriverResult<bool> event_query(DeviceIndex, EventHandle event) override {
    const std::lock_guard lock(mutex_);
    int& left = queries_left_.at(event);
    if (left > 0) --left;
    return left == 0;
  }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle event) override {
    const std::lock_guard lock(mutex_);
    queries_left_.at(event) = 0;
    return Done{};
  }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle event) override {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(queries_left_.erase(event), 1u);
    return Done{};
  }

  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef stream) override {
    return ContextHandle{stream.handle == 0x6000 ? std::uint64_t{7} : 0};
  }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

  std::size_t segments_out() const {
    const std::lock_guard lock(mutex_);
    return sizes_.size();
  }
  std::size_t events_out() const {
    const std::lock_guard lock(mutex_);
    return queries_left_.size();
  }

 private:
  DriverResult<Done> record(EventHandle event) {
    const std::lock_guard lock(mutex_);
    queries_left_.at(event) = static_cast<int>(event.value % 5);
    return Done{};
  }

  mutable std::mutex mutex_;
  std::array<std::uint64_t, 2> left_{memory_bytes, memory_bytes};
  std::uint64_t next_address_ = std::uint64_t{1} << 44;
  std::uint64_t last_event_ = 0;
  std::map<Address, Bytes> sizes_;
  std::map<EventHandle, int> queries_left_;
};

// The blocks that are live and that no thread is busy with.
class Blocks {
 public:
  // A block that was just allocated, which must overlap no other that is live.
  void add(void* block, std::size_t size) {
    const std::lock_guard lock(mutex_);
    const auto begin = reinterpret_cast<std::uintptr_t>(block);
    const auto above = live_.lower_bound(begin);
    if (above != live_.end()) {
      EXPECT_LE(begin + size, above->first);
    }
    if (above != live_.begin()) {
      EXPECT_LE(std::prev(above)->second, begin);
    }
    live_[begin] = begin + size;
    idle_.insert(begin);
  }
  // Any one of them, with which the caller alone is busy from now on; null: there is none.
  void* take(std::size_t at) {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto found = idle_.lower_bound(
        std::next(live_.begin(), static_cast<std::ptrdiff_t>(at % live_.size()))->first);
    if (found == idle_.end()) found = idle_.begin();
    const std::uintptr_t begin = *found;
    idle_.erase(found);
    return reinterpret_cast<void*>(begin);
  }
  void give_back(void* block) {
    const std::lock_guard lock(mutex_);
    idle_.insert(reinterpret_cast<std::uintptr_t>(block));
  }
  // The caller is about to free it.
  void remove(void* block) {
    const std::lock_guard lock(mutex_);
    EXPECT_EQ(live_.erase(reinterpret_cast<std::uintptr_t>(block)), 1u);
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return live_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::uintptr_t> live_;  // Begin to end.
  std::set<std::uintptr_t> idle_;
};

Stream handle(std::uintptr_t value) { return reinterpret_cast<Stream>(value); }

class Worker {
 public:
  Worker(Allocator& allocator, Blocks& blocks, std::uint64_t seed)
      : allocator_(allocator), blocks_(blocks), random_(seed) {}

  void run(int operations) {
    for (int i = 0; i < operations; ++i) act(below(200));
  }
  bool free_any(bool is_on = false) {
    void* block = blocks_.take(below(1000));
    if (block == nullptr) return false;
    blocks_.remove(block);
    if (is_on) {
      EXPECT_TRUE(allocator_.try_free_on(block, stream(), device()));
    } else {
      EXPECT_TRUE(allocator_.try_free(block));
    }
    return true;
  }

 private:
  void act(std::size_t choice) {
    if (choice < 90) return allocate();
    if (choice < 150) return void(free_any());
    if (choice < 165) return void(free_any(true));
    if (choice < 185) return record();
    if (choice < 188) return allocator_.process_events(device());
    if (choice < 190) return look();
    seldom(choice);
  }
  void seldom(std::size_t choice) {
    static constexpr std::array fractions{0.5, 0.8, 1.0, 1.0};
    if (choice == 190) allocator_.empty_cache();
    if (choice == 191) allocator_.set_memory_fraction(device(), fractions[below(4)]);
    if (choice == 192) allocator_.forget_stream(device(), handle(0x7000));
    if (choice == 193) allocator_.reset_peak_stats(device());
    if (choice != 194) return;
    allocator_.reconfigure(below(2) == 0 ? "release_lock_on_cudamalloc:True"
                                         : "garbage_collection_threshold:0.6");
  }
  void allocate() {
    static constexpr std::array<std::size_t, 6> sizes{1, 512, 4000, 70000, 1 << 20, 3 << 20};
    const std::size_t size = sizes[below(sizes.size())];
    Error why;
    void* block = allocator_.try_allocate({size, device(), stream()}, &why);
    if (block != nullptr) return blocks_.add(block, size);
    EXPECT_EQ(why.code, ErrorCode::out_of_memory) << why.message;
  }
  void record() {
    void* block = blocks_.take(below(1000));
    if (block == nullptr) return;
    EXPECT_TRUE(allocator_.try_record_stream(block, stream(), device()));
    blocks_.give_back(block);
  }
  void look() {
    const DeviceStats stats = allocator_.stats(device());
    EXPECT_LE(stats.allocated_bytes.all.current, stats.active_bytes.all.current);
    EXPECT_LE(stats.active_bytes.all.current, stats.reserved_bytes.all.current);
    EXPECT_LE(stats.reserved_bytes.all.current, static_cast<std::int64_t>(memory_bytes));
  }
  Stream stream() {
    static constexpr std::array<std::uintptr_t, 5> handles{0, 2, 0x5000, 0x6000, 0x7000};
    return handle(handles[below(handles.size())]);
  }
  int device() { return static_cast<int>(below(2)); }
  std::size_t below(std::size_t n) { return random_() % n; }

  Allocator& allocator_;
  Blocks& blocks_;
  std::mt19937_64 random_;
};

int operations_of_each_thread(int threads) {
  const char* wanted = std::getenv("CAIRN_THREAD_OPERATIONS");
  return (wanted == nullptr ? 16000 : std::stoi(wanted)) / threads;
}

void expect_nothing_left(Allocator& allocator) {
  for (int device = 0; device < 2; ++device) {
    const DeviceStats stats = allocator.stats(device);
    EXPECT_EQ(stats.allocation.all.current, 0);
    EXPECT_EQ(stats.allocated_bytes.all.current, 0);
    EXPECT_EQ(stats.requested_bytes.all.current, 0);
    EXPECT_EQ(stats.active_bytes.all.current, 0);
    EXPECT_EQ(stats.inactive_split.all.current, 0);
    EXPECT_EQ(stats.reserved_bytes.all.current, 0);
    EXPECT_EQ(stats.segment.all.current, 0);
    EXPECT_GT(stats.num_ooms, 0);  // Memory was short.
    EXPECT_GT(stats.num_sync_all_streams, 0);
  }
}

TEST(ThreadsStreams, BlocksOfSharedStreamsNeverOverlapAndAllComesBack) {
  constexpr int thread_count = 8;
  BusyDriver driver;
  {
    Allocator allocator =
        Allocator::from_settings(driver,
                                 "release_lock_on_cudamalloc:True,garbage_collection_threshold:0.8,"
                                 "per_process_memory_fraction:0.9");
    Blocks blocks;
    std::atomic<std::int64_t> failures{0};
    std::atomic<std::int64_t> freed_by_callbacks{0};
    allocator.add_free_memory_callback([&](int) {
      void* block = blocks.take(0);
      if (block == nullptr) return false;
      blocks.remove(block);
      EXPECT_TRUE(allocator.try_free(block));
      ++freed_by_callbacks;
      return true;
    });
    allocator.add_out_of_memory_observer([&](const Error& error) {
      EXPECT_EQ(error.memory->reserved_bytes(),
                error.memory->allocated_bytes + error.memory->unallocated_bytes);
      ++failures;
    });
    std::vector<std::thread> threads;
    for (std::uint64_t seed = 1; seed <= thread_count; ++seed) {
      threads.emplace_back([&, seed] {
        Worker(allocator, blocks, seed).run(operations_of_each_thread(thread_count));
      });
    }
    for (std::thread& thread : threads) thread.join();

    const DeviceStats first = allocator.stats(0);
    const DeviceStats second = allocator.stats(1);
    EXPECT_EQ(
        static_cast<std::size_t>(first.allocation.all.current + second.allocation.all.current),
        blocks.size());
    EXPECT_EQ(first.num_ooms + second.num_ooms, failures);
    EXPECT_GT(freed_by_callbacks, 0);
    Worker last(allocator, blocks, 0);
    while (last.free_any()) {
    }
    allocator.empty_cache();
    expect_nothing_left(allocator);
    EXPECT_EQ(driver.segments_out(), 0u);
  }
  EXPECT_EQ(driver.events_out(), 0u);
}

}  // namespace
}  // namespace cairn
