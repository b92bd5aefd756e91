// For tests of the allocator: one device over a scripted driver, audited after every step at any
// level.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <tuple>
#include <vector>

#include "allocator/device_allocator.h"
#include "allocator/scripted_driver.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"

namespace cairn {

inline constexpr StreamId s0 = legacy_default_stream;
inline constexpr StreamId s1{0x51};

// What a failed call must leave as it was: address, size, requested size and stream of live blocks.
using LiveBlocks =
    std::vector<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>>;

inline LiveBlocks live_blocks(const BlockMap& map) {
  LiveBlocks live;
  for (const SegmentInfo& segment : map) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::inactive) continue;
      live.emplace_back(block.address, block.size_bytes, block.requested_size_bytes,
                        segment.stream);
    }
  }
  return live;
}

// The reason of a failure; none, and a failure of the test, where there is none.
template <class T>
Error error_of(const Result<T, Error>& result) {
  EXPECT_TRUE(result.failed()) << "it did not fail";
  return result.failed() ? result.error() : Error{};
}

class DeviceInTest {
 public:
  explicit DeviceInTest(const Options& options = {}) : device_(0, options, driver_) {}

  Result<Address, Error> try_allocate(Bytes size, StreamId stream = s0,
                                      Bytes alignment = block_granularity) {
    const auto result = device_.allocate({stream, size, alignment});
    audit();
    return result;
  }
  Address allocate(Bytes size, StreamId stream = s0) {
    const auto result = try_allocate(size, stream);
    EXPECT_TRUE(result);
    return result ? *result : Address{};
  }
  void free(Address address) {
    const auto freed = device_.free(address, {});
    EXPECT_TRUE(freed && *freed);
    audit();
  }
  Result<Done, Error> empty_cache() {
    const auto result = device_.empty_cache();
    audit();
    return result;
  }

  LiveBlocks live() const { return live_blocks(device_.map()); }
  std::vector<Address> segments() const {
    std::vector<Address> addresses;
    for (const SegmentInfo& segment : device_.map()) addresses.push_back({segment.address});
    return addresses;
  }
  DeviceStats stats() const { return device_.stats(); }

  ScriptedDriver& driver() { return driver_; }
  DeviceAllocator& operator*() { return device_; }
  DeviceAllocator* operator->() { return &device_; }

 private:
  // The heap holds what it promises, and holds just what the driver has out.
  void audit() const {
    invariants::Recorder recorder;
    device_.inspect([](const Heap& heap) { invariants::check(heap, invariants::Cost::heap); });
    for (const invariants::Violation& violation : recorder.violations()) {
      ADD_FAILURE() << to_string(violation);
    }
    std::vector<Address> out;
    for (const auto& [address, device] : driver_.out()) out.push_back(address);
    EXPECT_EQ(segments(), out);
  }

  ScriptedDriver driver_;
  DeviceAllocator device_;
};

}  // namespace cairn
