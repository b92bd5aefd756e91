// Who says who is next: all schedules with few preemptions, one after another, or random ones.
// Not thread-safe: asked by the thread whose turn it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "testing/scheduler.h"

namespace cairn::testing {

// All schedules in which a thread that could go on is made to wait so often at most (Musuvathi and
// Qadeer, 2007), in depth-first order; the first has no preemption.
class Odometer {
 public:
  explicit Odometer(int most_preemptions) : most_preemptions_(most_preemptions) {}

  // -1: what ran before ran differently this time.
  int choose(const Scheduler::Point& point);
  // On to the next schedule; false: that was the last.
  bool next();
  // Of the schedule that was run.
  int preemptions() const;
  std::size_t points() const { return depth_; }

 private:
  struct Choice {
    std::vector<int> options;  // The first goes on with the thread that runs, if it can.
    std::size_t taken = 0;
    int preemptions = 0;   // Up to here, this one not counted.
    bool is_free = false;  // No option is a preemption.
  };

  static int after(const Choice& choice) {
    return choice.preemptions + (choice.taken > 0 && !choice.is_free ? 1 : 0);
  }

  const int most_preemptions_;
  std::vector<Choice> path_;
  std::size_t depth_ = 0;
};

// Probabilistic concurrency testing (Burckhardt and others, 2010): the thread of the highest
// priority runs; at depth - 1 points, drawn beforehand, the one that runs becomes the lowest. A
// fault that takes `depth` ordered steps of n threads in k points is hit by each schedule with a
// probability of at least 1 / (n k^(depth - 1)).
class Pct {
 public:
  Pct(std::uint64_t seed, int depth, std::size_t points);

  int choose(const Scheduler::Point& point);

 private:
  std::mt19937_64 random_;
  std::map<int, std::int64_t> priorities_;
  std::vector<std::size_t> changes_;
  std::size_t point_ = 0;
  std::int64_t lowest_ = 0;
};

}  // namespace cairn::testing
