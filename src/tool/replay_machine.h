// Carries a plan out: the production allocator on a simulated GPU, as fast as it goes.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "driver/driver_call.h"
#include "tool/recording.h"
#include "tool/replay_plan.h"

namespace cairn::tool {

struct ReplayFigures {
  std::chrono::nanoseconds time{0};  // Of all operations; that of the driver's calls is in it.
  std::uint64_t allocations = 0;
  std::uint64_t frees = 0;
  std::uint64_t peak_allocated = 0;  // Bytes, the sum over the devices' own peaks.
  std::uint64_t peak_reserved = 0;
  std::uint64_t largest_free = 0;  // At the end: the largest free block, and all free bytes.
  std::uint64_t total_free = 0;
  std::array<std::uint64_t, driver_call_count> calls{};
};

// Runs the plan once, on an allocator of its own.
Result<ReplayFigures, ReplayRefusal> replay(const ReplayPlan& plan);

// The same, written down moment by moment instead of measured.
Result<Recording, ReplayRefusal> record(const ReplayPlan& plan);

}  // namespace cairn::tool
