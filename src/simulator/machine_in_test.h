// For tests: a simulated GPU of two devices, and short words for what a program and an allocator do
// with it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/simulated_gpu.h"

namespace cairn::simulator {

class MachineTest : public testing::Test {
 protected:
  static constexpr StreamRef s0{0, 0};

  // ---- the program ----

  StreamRef stream(DeviceIndex device = 0) { return *gpu.make_stream({.device = device}); }
  StreamRef blocking(DeviceIndex device = 0) {
    return *gpu.make_stream({.device = device, .is_blocking = true});
  }
  StreamRef under_handle_of(StreamRef dead) {
    return *gpu.make_stream({.device = dead.device, .reuse_handle = dead.handle});
  }
  void destroy(StreamRef stream, bool announced = true) {
    ASSERT_TRUE(gpu.destroy_stream(stream, announced));
  }
  // A kernel that touches nothing.
  void work(StreamRef on, Ticks ticks) { ASSERT_TRUE(gpu.launch(on, {}, ticks)); }
  void write(StreamRef on, Span range, Ticks ticks = 10) {
    ASSERT_TRUE(gpu.launch(on, {{on.device, range, false}}, ticks));
  }
  void read(StreamRef on, Span range, Ticks ticks = 10) {
    ASSERT_TRUE(gpu.launch(on, {{on.device, range, true}}, ticks));
  }
  void order(StreamRef before, StreamRef after) { ASSERT_TRUE(gpu.order(before, after)); }

  // ---- the allocator ----

  Span segment(Bytes size = Bytes{2 << 20}, DeviceIndex device = 0) {
    return {*gpu.malloc(device, size), size};
  }
  void hand_out(Span range, StreamRef owner) {
    gpu.hand_out(owner.device, range, gpu.identify(owner));
  }
  void take_back(Span range, const std::vector<StreamRef>& recorded = {}) {
    std::vector<StreamNumber> numbers;
    for (const StreamRef stream : recorded) numbers.push_back(gpu.identify(stream));
    gpu.take_back(0, range, numbers);
  }
  EventHandle event(DeviceIndex device = 0) { return *gpu.event_create(device, {}); }
  EventHandle recorded(StreamRef on) {
    const EventHandle made = event(on.device);
    EXPECT_TRUE(gpu.event_record(on, made));
    return made;
  }
  bool is_done(EventHandle event) { return *gpu.event_query(0, event); }
  // Whether all work on the stream is done; if so, the host has seen it.
  bool is_idle(StreamRef on) { return is_done(recorded(on)); }

  // ---- the judge ----

  std::vector<ViolationKind> seen() const {
    std::vector<ViolationKind> kinds;
    for (const Violation& violation : gpu.violations()) kinds.push_back(violation.kind);
    return kinds;
  }
  void expect_innocence() const {
    EXPECT_TRUE(gpu.violations().empty()) << gpu.violations().front().message;
    EXPECT_TRUE(gpu.mistakes().empty()) << gpu.mistakes().front();
  }
  void expect_violation(ViolationKind kind, const std::string& words) const {
    EXPECT_TRUE(gpu.mistakes().empty()) << gpu.mistakes().front();
    ASSERT_EQ(seen(), std::vector{kind});
    EXPECT_NE(gpu.violations()[0].message.find(words), std::string::npos)
        << gpu.violations()[0].message;
  }
  void expect_mistake(const std::string& words) const {
    EXPECT_TRUE(gpu.violations().empty()) << gpu.violations().front().message;
    ASSERT_EQ(gpu.mistakes().size(), 1u);
    EXPECT_NE(gpu.mistakes()[0].find(words), std::string::npos) << gpu.mistakes()[0];
  }

  SimulatedGpu gpu{{DeviceOptions{}, {}}};
};

// Three streams, and a block that the program holds for one stream after another.
class ReuseTest : public MachineTest {
 protected:
  // The block is held for the stream, which uses it, and given back.
  void live(StreamRef owner) {
    hand_out(block, owner);
    write(owner, block);
    take_back(block);
  }
  // The block is held for the stream, which uses it.
  void reuse(StreamRef owner) {
    hand_out(block, owner);
    write(owner, block);
  }

  StreamRef s1 = stream();
  StreamRef s2 = stream();
  StreamRef s3 = stream();
  Span home = segment();
  Span block{home.begin, Bytes{1 << 20}};
};

template <class T>
void expect_refused(const Result<T, std::string>& result, const std::string& because) {
  ASSERT_TRUE(result.failed());
  EXPECT_NE(result.error().find(because), std::string::npos) << result.error();
}

}  // namespace cairn::simulator
