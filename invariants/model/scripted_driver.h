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
#include <string>
#include <utility>
#include <vector>

#include "invariants/model/model.h"

namespace cairn::model {

// Every call takes the next answer; without one it succeeds. Segments lie 1 TiB apart, in the order
// in which they were given, unless an address was set for one.
class ScriptedDriver : public Environment {
 public:
  static constexpr int out_of_memory = 2;
  static constexpr int illegal_address = 700;

  void answer(const std::vector<int>& cuda_codes) {
    answers_.assign(cuda_codes.begin(), cuda_codes.end());
  }
  void next_address(Address address) { next_address_ = address; }

  // The calls since this was last asked: "malloc 0 20MiB", "free 0 #1" (the first segment that was
  // ever given), "mem_info 0", each with the device.
  std::vector<std::string> calls() { return std::exchange(calls_, {}); }

  Allocated malloc(DeviceIndex device, Bytes size) override {
    EXPECT_EQ(size.count % (1 << 20), 0U);
    calls_.push_back("malloc " + std::to_string(device) + " " + std::to_string(size.count >> 20) +
                     "MiB");
    if (const int code = next_answer(); code != 0) return {code, {}};
    const std::size_t number = numbers_.size() + 1;
    const Address given =
        next_address_ != Address{0} ? next_address_ : Address{std::uint64_t{number} << 40};
    next_address_ = {};
    numbers_[given] = number;
    return {0, given};
  }
  int free(DeviceIndex device, Address address) override {
    calls_.push_back("free " + std::to_string(device) + " #" + std::to_string(numbers_[address]));
    return next_answer();
  }
  int mem_info(DeviceIndex device) override {
    calls_.push_back("mem_info " + std::to_string(device));
    return next_answer();
  }

 private:
  int next_answer() {
    if (answers_.empty()) return 0;
    const int code = answers_.front();
    answers_.pop_front();
    return code;
  }

  std::deque<int> answers_;
  std::vector<std::string> calls_;
  std::map<Address, std::size_t> numbers_;
  Address next_address_;
};

using Calls = std::vector<std::string>;

// What the map says that the statistics' `current` must be.
struct Recount {
  std::int64_t segments = 0, reserved = 0, live = 0, allocated = 0, requested = 0, splits = 0,
               split_bytes = 0, oversize_live = 0, oversize_segments = 0;

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
      const bool split = !live && segment.blocks.size() > 1;
      sum.live += live;
      sum.allocated += live ? size : 0;
      sum.requested += static_cast<std::int64_t>(block.requested_size_bytes);
      sum.splits += split;
      sum.split_bytes += split ? size : 0;
      sum.oversize_live += live && block.size_bytes >= max_split_size;
    }
  }
  return sum;
}

inline Recount as_counted(const DeviceStats& stats, Stat StatArray::* entry) {
  EXPECT_EQ((stats.active.*entry).current, (stats.allocation.*entry).current);
  EXPECT_EQ((stats.active_bytes.*entry).current, (stats.allocated_bytes.*entry).current);
  return {(stats.segment.*entry).current,
          (stats.reserved_bytes.*entry).current,
          (stats.allocation.*entry).current,
          (stats.allocated_bytes.*entry).current,
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
