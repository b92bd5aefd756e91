// Runs a Program with a `parallel` in it in many schedules, and makes what it finds short.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "testing/play.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

struct Found {
  StepResult result;
  Program program;  // As it went, with the schedule.
  int preemptions = 0;
};

struct Explored {
  std::uint64_t schedules = 0;
  std::uint64_t most_points = 0;  // Of one schedule.
  std::optional<Found> found;     // The first; then nothing else is run.
};

// Who had the turn so far, in memory that outlives a process that crashes; of the run under way.
struct Trail {
  static constexpr std::size_t most = 4096;
  std::size_t length = 0;
  int threads[most] = {};
};

struct Bounds {
  int preemptions = 2;
  std::uint64_t schedules = 1'000'000;
  Trail* trail = nullptr;
};

// All schedules within the bounds.
Explored explore(const Program& program, const WorldOptions& options, const Bounds& bounds = {});
// So many random ones (Pct), from that seed on.
Explored explore_at_random(const Program& program, const WorldOptions& options,
                           std::uint64_t schedules, std::uint64_t seed, Trail* trail = nullptr);

// With fewer preemptions, fewer lines, fewer steps in its schedule. REQUIRES: it was found so.
Found shorten(const Found& found, const WorldOptions& options);

// How many steps its schedule has.
std::size_t steps_of_schedule(const Program& program);

}  // namespace cairn::testing
