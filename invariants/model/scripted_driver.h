// For tests of the model: a driver that answers as it was told and notes what it was asked, and a
// recount of the statistics from the map.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invariants/model/model.h"

namespace cairn::model {

// What one call is to say: a code of CUDA, success with a number (a context, an id), or that an
// event is not done.
struct Answer {
  Answer(int code) : cuda_code(code) {}  // NOLINT(google-explicit-constructor): stands in lists.

  static Answer number(std::uint64_t value) {
    Answer answer(0);
    answer.value = value;
    return answer;
  }
  static Answer not_done() {
    Answer answer(0);
    answer.is_done = false;
    return answer;
  }

  int cuda_code = 0;
  std::optional<std::uint64_t> value;
  bool is_done = true;
};

// Every call takes the next answer; without one it succeeds. Segments then lie 1 TiB apart, in the
// order in which they were given, unless an address was set for one; events are 1, 2 ..., and done;
// streams are of the primary context, and their id is their handle.
class ScriptedDriver : public Environment {
 public:
  static constexpr int out_of_memory = 2;
  static constexpr int unknown = 999;          // An error of which nothing follows.
  static constexpr int illegal_address = 700;  // The device is lost.
  static constexpr int invalid_handle = 400;
  static constexpr int not_supported = 801;

  void answer(const std::vector<Answer>& answers) {
    answers_.assign(answers.begin(), answers.end());
  }
  bool has_answers() const { return !answers_.empty(); }
  void next_address(Address address) { next_address_ = address; }
  void on_thread(std::uint64_t number) { thread_ = number; }

  // The calls since this was last asked, each with the device: "malloc 0 20MiB", "free 0 #1" (the
  // first segment that was ever given), "event_create 0 ctx0", "event_record 0 s16 e1" (a stream's
  // handle, an event), "stream_sync 0 s16".
  std::vector<std::string> calls() { return std::exchange(calls_, {}); }

  std::uint64_t thread_number() override { return thread_; }

  Allocated malloc(DeviceIndex device, Bytes size) override {
    EXPECT_EQ(size.count % (1 << 20), 0U);
    const Answer answer = called("malloc", device, std::to_string(size.count >> 20) + "MiB");
    if (answer.cuda_code != 0) return {answer.cuda_code, {}};
    const std::size_t number = numbers_.size() + 1;
    Address given{answer.value.value_or(std::uint64_t{number} << 40)};
    if (next_address_ != Address{0}) given = std::exchange(next_address_, {});
    numbers_[given] = number;
    return {0, given};
  }
  int free(DeviceIndex device, Address address) override {
    return called("free", device, "#" + std::to_string(numbers_[address])).cuda_code;
  }
  // Without an answer 1 GiB is free of 8.
  Memory mem_info(DeviceIndex device) override {
    const Answer answer = called("mem_info", device);
    return {answer.cuda_code, {answer.value.value_or(1 << 30)}, {std::uint64_t{8} << 30}};
  }
  Number event_create(DeviceIndex device, std::uint64_t context) override {
    const Answer answer = called("event_create", device, "ctx" + std::to_string(context));
    if (answer.cuda_code != 0) return {answer.cuda_code, 0};
    return {0, answer.value.value_or(++events_)};
  }
  int event_record(DeviceIndex device, std::uint64_t stream, std::uint64_t event) override {
    return called("event_record", device, stream_text(stream) + " " + event_text(event)).cuda_code;
  }
  Queried event_query(DeviceIndex device, std::uint64_t event) override {
    const Answer answer = called("event_query", device, event_text(event));
    return {answer.cuda_code, answer.is_done};
  }
  int event_sync(DeviceIndex device, std::uint64_t event) override {
    return called("event_sync", device, event_text(event)).cuda_code;
  }
  int ctx_record(DeviceIndex device, std::uint64_t event) override {
    return called("ctx_record", device, event_text(event)).cuda_code;
  }
  int stream_sync(DeviceIndex device, std::uint64_t stream) override {
    return called("stream_sync", device, stream_text(stream)).cuda_code;
  }
  int device_sync(DeviceIndex device) override { return called("device_sync", device).cuda_code; }
  Number stream_ctx(DeviceIndex device, std::uint64_t stream) override {
    const Answer answer = called("stream_ctx", device, stream_text(stream));
    return {answer.cuda_code, answer.value.value_or(0)};
  }
  Number stream_id(DeviceIndex device, std::uint64_t stream) override {
    const Answer answer = called("stream_id", device, stream_text(stream));
    return {answer.cuda_code, answer.value.value_or(stream)};
  }

 private:
  static std::string stream_text(std::uint64_t stream) { return "s" + std::to_string(stream); }
  static std::string event_text(std::uint64_t event) { return "e" + std::to_string(event); }

  Answer called(const std::string& call, DeviceIndex device, const std::string& what = "") {
    calls_.push_back(call + " " + std::to_string(device) + (what.empty() ? "" : " " + what));
    if (answers_.empty()) return {0};
    const Answer answer = answers_.front();
    answers_.pop_front();
    return answer;
  }

  std::deque<Answer> answers_;
  std::vector<std::string> calls_;
  std::map<Address, std::size_t> numbers_;
  Address next_address_;
  std::uint64_t events_ = 0;
  std::uint64_t thread_ = 1;
};

using Calls = std::vector<std::string>;

// What the map says that the statistics' `current` must be.
struct Recount {
  std::int64_t segments = 0, reserved = 0, live = 0, allocated = 0, active = 0, active_bytes = 0,
               requested = 0, splits = 0, split_bytes = 0, oversize_live = 0, oversize_segments = 0;

  friend bool operator==(const Recount&, const Recount&) = default;
};

enum class Which { all, small, large };

inline Recount recount(const BlockMap& map, Which which, std::uint64_t max_split_size) {
  Recount sum;
  for (const SegmentInfo& segment : map) {
    if (which != Which::all && segment.is_large != (which == Which::large)) continue;
    sum.segments += 1;
    sum.reserved += static_cast<std::int64_t>(segment.size_bytes);
    sum.oversize_segments += segment.size_bytes >= max_split_size;
    for (const BlockInfo& block : segment.blocks) {
      const auto size = static_cast<std::int64_t>(block.size_bytes);
      const bool live = block.state == BlockState::active_allocated;
      const bool active = block.state != BlockState::inactive;
      const bool split = !active && segment.blocks.size() > 1;
      sum.live += live;
      sum.allocated += live ? size : 0;
      sum.active += active;
      sum.active_bytes += active ? size : 0;
      sum.requested += static_cast<std::int64_t>(block.requested_size_bytes);
      sum.splits += split;
      sum.split_bytes += split ? size : 0;
      sum.oversize_live += live && block.size_bytes >= max_split_size;
    }
  }
  return sum;
}

inline Recount as_counted(const DeviceStats& stats, Stat StatArray::* entry) {
  return {(stats.segment.*entry).current,
          (stats.reserved_bytes.*entry).current,
          (stats.allocation.*entry).current,
          (stats.allocated_bytes.*entry).current,
          (stats.active.*entry).current,
          (stats.active_bytes.*entry).current,
          (stats.requested_bytes.*entry).current,
          (stats.inactive_split.*entry).current,
          (stats.inactive_split_bytes.*entry).current,
          stats.oversize_allocations.current,
          stats.oversize_segments.current};
}

inline bool statistics_recount(const Model& model, DeviceIndex device) {
  const DeviceStats stats = model.stats(device);
  const BlockMap map = model.map(device);
  const Recount all = recount(map, Which::all, stats.max_split_size_bytes);
  Recount small = recount(map, Which::small, stats.max_split_size_bytes);
  Recount large = recount(map, Which::large, stats.max_split_size_bytes);
  // There is one count of oversize for both pools.
  small.oversize_live = large.oversize_live = all.oversize_live;
  small.oversize_segments = large.oversize_segments = all.oversize_segments;
  return as_counted(stats, &StatArray::all) == all &&
         as_counted(stats, &StatArray::small_pool) == small &&
         as_counted(stats, &StatArray::large_pool) == large;
}

}  // namespace cairn::model
