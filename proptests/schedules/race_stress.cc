// Two real threads use one allocator, over a driver that does nothing, in all the ways in which the
// planted races (plant.py) can be met: for the thread sanitizer, which says what it sees.
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

#include "cairn/allocator.h"
#include "driver/driver.h"

namespace {

using namespace cairn;

constexpr int rounds = 3000;

// Whatever it is asked for is there, and all work is done at once.
class IdleDriver final : public Driver {
 public:
  int device_count() const override { return 1; }
  Bytes total_memory(DeviceIndex) const override { return {std::uint64_t{1} << 40}; }
  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    return Address{next_.fetch_add(size.count)};
  }
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override {
    return MemoryInfo{total_memory(0), total_memory(0)};
  }
  DriverResult<EventHandle> event_create(DeviceIndex, ContextHandle) override {
    return EventHandle{events_.fetch_add(1)};
  }
  DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  DriverResult<Done> event_sync(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> event_destroy(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> ctx_record(DeviceIndex, EventHandle) override { return Done{}; }
  DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  DriverResult<Done> device_sync(DeviceIndex) override { return Done{}; }
  DriverResult<ContextHandle> stream_ctx(StreamRef) override { return ContextHandle{1}; }
  DriverResult<std::uint64_t> stream_id(StreamRef stream) override { return stream.handle; }

 private:
  std::atomic<std::uint64_t> next_{std::uint64_t{1} << 44};
  std::atomic<std::uint64_t> events_{1};
};

Stream stream(std::uintptr_t number) { return reinterpret_cast<Stream>(number); }

void work(Allocator& allocator, std::uintptr_t own) {
  constexpr std::size_t size = 4096;
  for (int round = 0; round < rounds; ++round) {
    void* plain = allocator.allocate({size, 0, stream(own)});
    void* used = allocator.allocate({size, 0, stream(own)});
    allocator.record_stream(used, stream(own + 1));
    allocator.free(plain, size, stream(own));
    allocator.free(used);
    static_cast<void>(allocator.stats(0));
  }
}

}  // namespace

int main() {
  IdleDriver driver;
  Allocator allocator(driver, {});
  std::thread other([&] { work(allocator, 0x100); });
  work(allocator, 0x200);
  other.join();
  const auto live = allocator.stats(0).allocation.all.current;
  std::printf("%lld live blocks\n", static_cast<long long>(live));
  return live == 0 ? 0 : 1;
}
