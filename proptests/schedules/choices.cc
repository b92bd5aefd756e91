#include "choices.h"

#include <algorithm>

namespace cairn::testing {

int Odometer::choose(const Scheduler::Point& point) {
  const bool can_go_on = std::ranges::find(point.can_run, point.running) != point.can_run.end();
  std::vector<int> options;
  if (can_go_on) options.push_back(point.running);
  for (const int thread : point.can_run)
    if (thread != point.running) options.push_back(thread);
  if (depth_ == path_.size()) {
    const int so_far = path_.empty() ? 0 : after(path_.back());
    if (can_go_on && so_far >= most_preemptions_) options.resize(1);
    path_.push_back({std::move(options), 0, so_far, !can_go_on});
  } else {
    const std::vector<int>& before = path_[depth_].options;  // Perhaps the first of them alone.
    const bool is_same = options.size() >= before.size() &&
                         std::equal(before.begin(), before.end(), options.begin());
    if (!is_same) return -1;
  }
  const Choice& choice = path_[depth_++];
  return choice.options[choice.taken];
}

bool Odometer::next() {
  path_.resize(depth_);
  depth_ = 0;
  while (!path_.empty() && path_.back().taken + 1 == path_.back().options.size()) path_.pop_back();
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

int Odometer::preemptions() const { return path_.empty() ? 0 : after(path_.back()); }

Pct::Pct(std::uint64_t seed, int depth, std::size_t points) : random_(seed) {
  std::uniform_int_distribution<std::size_t> any(0, std::max<std::size_t>(points, 1) - 1);
  for (int change = 1; change < depth; ++change) changes_.push_back(any(random_));
}

int Pct::choose(const Scheduler::Point& point) {
  for (const int thread : point.can_run)
    if (!priorities_.contains(thread))
      priorities_[thread] = static_cast<std::int64_t>(random_() >> 2) + 1;
  const auto priority = [this](int thread) { return priorities_.at(thread); };
  const auto highest = [&] { return *std::ranges::max_element(point.can_run, {}, priority); };
  if (std::ranges::find(changes_, point_++) != changes_.end()) priorities_[highest()] = --lowest_;
  return highest();
}

}  // namespace cairn::testing
