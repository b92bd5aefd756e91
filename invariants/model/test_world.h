// For tests of the model: two devices of 8 GiB over a scripted driver, and short words for what is
// done to them. However a test ends, the statistics are a recount of the maps.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "invariants/model/model.h"
#include "invariants/model/scripted_driver.h"

namespace cairn::model {

struct TestWorld {
  // Handles of streams.
  static constexpr std::uint64_t s0 = 0;
  static constexpr std::uint64_t ptds = 2;
  static constexpr std::uint64_t s1 = 16;
  static constexpr std::uint64_t s2 = 32;
  static constexpr std::uint64_t s3 = 48;

  explicit TestWorld(const Options& options = {})
      : model(options, {Bytes{std::uint64_t{8} << 30}, Bytes{std::uint64_t{8} << 30}}, driver) {}
  ~TestWorld() {
    EXPECT_TRUE(statistics_recount(model, 0));
    EXPECT_TRUE(statistics_recount(model, 1));
    EXPECT_FALSE(driver.has_answers()) << "a call that was expected was not made";
  }
  TestWorld(const TestWorld&) = delete;
  TestWorld& operator=(const TestWorld&) = delete;

  Outcome allocate(Bytes size, std::uint64_t stream = s0, DeviceIndex device = 0) {
    return model.allocate({device, stream, size, Bytes{512}});
  }
  // One that succeeds, with its driver calls forgotten.
  Address block(Bytes size, std::uint64_t stream = s0, DeviceIndex device = 0) {
    const Outcome outcome = allocate(size, stream, device);
    EXPECT_EQ(outcome.code, ErrorCode::none);
    driver.calls();
    return outcome.address;
  }
  // A block of `stream` that these streams use too.
  Address used_block(Bytes size, std::uint64_t stream, const std::vector<std::uint64_t>& users) {
    const Address address = block(size, stream);
    for (const std::uint64_t user : users) use(address, user);
    driver.calls();
    return address;
  }
  void use(Address address, std::uint64_t stream, DeviceIndex device = 0) {
    EXPECT_EQ(model.record_stream(address, {device, stream}), ErrorCode::none);
  }
  // Frees it, which must succeed, and tells the calls of that.
  std::vector<std::string> free(Address address) {
    driver.calls();
    EXPECT_EQ(model.free(address), ErrorCode::none);
    return driver.calls();
  }
  // Segments of these sizes, all free.
  void cache(const std::vector<Bytes>& sizes, std::uint64_t stream = s0) {
    std::vector<Address> given;
    given.reserve(sizes.size());
    for (const Bytes size : sizes) given.push_back(block(size, stream));
    for (const Address address : given) free(address);
  }
  // What a look at the events of device 0 asks.
  std::vector<std::string> poll() {
    driver.calls();
    EXPECT_EQ(model.process_events(0), ErrorCode::none);
    return driver.calls();
  }
  // The state of each block of device 0, in order of address: "a" is allocated, "p" pending, "f"
  // free; segments are parted by a blank.
  std::string states() const {
    std::string states;
    for (const SegmentInfo& segment : model.map(0)) {
      if (!states.empty()) states += " ";
      for (const BlockInfo& block : segment.blocks) {
        const bool allocated = block.state == BlockState::active_allocated;
        const bool pending = block.state == BlockState::active_pending_free;
        states += allocated ? "a" : pending ? "p" : "f";
      }
    }
    return states;
  }
  DeviceStats stats(DeviceIndex device = 0) const { return model.stats(device); }

  ScriptedDriver driver;
  Model model;
};

}  // namespace cairn::model
