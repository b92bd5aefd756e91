// For tests of the allocator: one device over a scripted driver, audited after every step at any
// level.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "allocator/device_allocator.h"
#include "allocator/scripted_driver.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"

namespace cairn {

inline constexpr StreamId s0 = legacy_default_stream;
inline constexpr StreamId s1{0x51};
inline constexpr StreamId s2{0x52};
inline constexpr StreamId s3{0x53};

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
  explicit DeviceInTest(const Options& options = {}, int devices = 1,
                        Bytes total = {std::uint64_t{80} << 30})
      : driver_(devices, total),
        streams_(driver_, options),
        device_(0, options, {driver_, streams_, callbacks_}) {}

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
  Result<bool, Error> try_free(Address address) {
    auto freed = device_.free(address, nullptr);
    audit();
    return freed;
  }
  void free(Address address) {
    const auto freed = try_free(address);
    EXPECT_TRUE(freed && *freed);
  }
  // A block that those streams use, beside its own.
  Address allocate_used(Bytes size, StreamId stream, std::initializer_list<StreamId> users) {
    const Address address = allocate(size, stream);
    for (const StreamId user : users) record(address, user);
    return address;
  }
  void record(Address address, StreamId user, std::optional<DeviceIndex> device = {}) {
    const auto recorded = device_.record_stream(address, {user, device});
    EXPECT_TRUE(recorded && *recorded);
    audit();
  }
  Result<bool, Error> free_on(Address address, StreamId user) {
    auto freed = device_.free_on(address, {user, {}});
    audit();
    return freed;
  }
  Result<Done, Error> forget(StreamId stream, DeviceIndex device = 0) {
    auto forgotten = device_.forget_stream({device, stream});
    audit();
    return forgotten;
  }
  Result<Done, Error> process_events() {
    auto looked = device_.process_events();
    audit();
    return looked;
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
  // The streams that use a live block beside its own.
  std::vector<StreamKey> uses(Address address) {
    return device_.inspect([&](const Heap& heap) {
      const auto uses = heap.uses(*const_cast<Heap&>(heap).find_live(address));
      return std::vector<StreamKey>(uses.begin(), uses.end());
    });
  }
  BlockState state_of(Address address) const {
    for (const SegmentInfo& segment : device_.map()) {
      for (const BlockInfo& block : segment.blocks) {
        const bool holds =
            block.address <= address.value && address.value < block.address + block.size_bytes;
        if (holds) return block.state;
      }
    }
    ADD_FAILURE() << address.value << " is in no segment";
    return BlockState::inactive;
  }
  bool is_pending(Address address) const {
    return state_of(address) == BlockState::active_pending_free;
  }
  // How many events wait, in all queues.
  std::size_t queued() const {
    return device_.inspect([](const DeviceState& state) {
      std::size_t events = 0;
      for (const auto& [stream, queue] : state.queues.all()) events += queue.size();
      return events;
    });
  }

  ScriptedDriver& driver() { return driver_; }
  Calls calls() { return driver_.calls(); }
  Callbacks& callbacks() { return callbacks_; }
  DeviceAllocator& operator*() { return device_; }
  DeviceAllocator* operator->() { return &device_; }

 private:
  // All holds that is promised, and the heap holds just what the driver has out.
  void audit() const {
    invariants::Recorder recorder;
    device_.inspect(
        [](const DeviceState& state) { invariants::check(state, invariants::Cost::heap); });
    for (const invariants::Violation& violation : recorder.violations()) {
      ADD_FAILURE() << to_string(violation);
    }
    std::vector<Address> out;
    for (const auto& [address, device] : driver_.out()) out.push_back(address);
    EXPECT_EQ(segments(), out);
  }

  ScriptedDriver driver_;
  StreamDirectory streams_;
  Callbacks callbacks_;
  DeviceAllocator device_;
};

}  // namespace cairn
