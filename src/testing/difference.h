// What was to be, and what was there instead; and how statistics, maps and driver calls are
// compared and put into words. Thread safety: pure functions.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/ids.h"
#include "cairn/block_map.h"
#include "cairn/errors.h"
#include "cairn/stats.h"
#include "driver/recording_driver.h"

namespace cairn::testing {

struct Difference {
  std::string expected;
  std::string found;
};

std::string describe(const RecordedCall& call);  // What went in: "malloc of 20MiB on device 0".
std::string describe(std::span<const StreamKey> uses);
std::string describe(const SegmentInfo& segment);
std::string describe(const BlockInfo& block);

// The first statistic, segment, block or quantity in which both differ. What was last requested of
// a free block is nobody's promise and is not compared, nor are other processes.
std::optional<Difference> compare(const DeviceStats& expected, const DeviceStats& found);
std::optional<Difference> compare(const BlockMap& expected, const BlockMap& found);
std::optional<Difference> compare(const MemoryReport& expected, const MemoryReport& found);

}  // namespace cairn::testing
