// When the host has no memory left, wherever that comes, a call fails and nothing is lost. Here
// every single allocation of host memory that the calls make fails once. Where invariants are on,
// checkers allocate as well, at places that may not throw: this test is for builds with invariants
// off.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "allocator/all_devices.h"
#include "cairn/allocator.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"

namespace {

thread_local int allocations_until_failure = 0;  // 0: none fails.

void* allocate_host(std::size_t size_bytes, std::size_t alignment_bytes) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  const std::size_t rounded =
      (size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  void* pointer = std::aligned_alloc(alignment_bytes, rounded);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

// Out of line, so that the compiler does not take a delete that it inlines for a mismatch.
[[gnu::noinline]] void free_host(void* pointer) { std::free(pointer); }

}  // namespace

void* operator new(std::size_t size) { return allocate_host(size, alignof(std::max_align_t)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate_host(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { free_host(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { free_host(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { free_host(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { free_host(pointer); }

namespace cairn {
namespace {

using namespace literals;

// So much memory, and no allocation of its own.
class CountingDriver final : public Driver {
 public:
  explicit CountingDriver(Bytes memory) : memory_(memory) {}

  int device_count() const override { return 1; }
  DriverResult<Address> malloc(DeviceIndex, Bytes size) override {
    if (used_ + size > memory_) return Failure{CudaStatus::out_of_memory};
    used_ += size;
    ++segments_out_;
    next_ = next_ + 1_GiB;
    return next_;
  }
  DriverResult<Done> free(DeviceIndex, Address) override {
    --segments_out_;
    return Done{};
  }
  DriverResult<MemoryInfo> mem_info(DeviceIndex) override { return MemoryInfo{0_B, memory_}; }

  std::size_t segments_out() const { return segments_out_; }

 private:
  Bytes memory_;
  Bytes used_;
  Address next_;
  std::size_t segments_out_ = 0;
};

void expect_sound(AllDevices& devices, const CountingDriver& driver) {
  const invariants::Recorder recorder;
  devices.device(0).inspect([&](const Heap& heap) {
    invariants::check(heap, invariants::Cost::heap);
    EXPECT_EQ(heap.segments().size(), driver.segments_out());
  });
  for (const auto& violation : recorder.violations()) ADD_FAILURE() << to_string(violation);
}

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

class HostMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (invariants::level > 0) GTEST_SKIP() << "the checkers of this build allocate too";
  }
};

TEST_F(HostMemory, AnAllocationThatFindsNoneChangesNothing) {
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

TEST_F(HostMemory, AFreeNeedsNone) {
  CountingDriver driver(4_GiB);
  AllDevices devices(driver, {});
  std::vector<Address> live;
  for (std::size_t i = 0; i < 500; ++i) live.push_back(*devices.allocate({i * 977 + 1}));
  for (const Address address : live) {
    EXPECT_EQ(fail_each_allocation([&] { EXPECT_TRUE(devices.free(address, nullptr)); }, [] {}), 0);
  }
  expect_sound(devices, driver);
}

TEST_F(HostMemory, AReleaseThatFindsNoneCanBeDoneAgain) {
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

TEST_F(HostMemory, TheFormThatDoesNotThrowSaysSo) {
  CountingDriver driver(4_GiB);
  Allocator allocator(driver);
  Error why;
  allocations_until_failure = 1;
  EXPECT_EQ(allocator.try_allocate({512}, &why), nullptr);
  EXPECT_EQ(allocations_until_failure, 0);
  EXPECT_EQ(why.code, ErrorCode::out_of_host_memory);
  EXPECT_NE(allocator.try_allocate({512}, &why), nullptr);
}

}  // namespace
}  // namespace cairn
