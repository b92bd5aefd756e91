// When the work of streams is done, as on the simulated GPU: each piece of work takes one tick, a
// stream does one after another, all streams at the same time, and time passes only where somebody
// waits.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/ids.h"

namespace cairn::testing {

class WorkClock {
 public:
  // Puts a piece of work on the stream.
  void work(StreamKey stream) {
    std::uint64_t& until = busy_until_[stream];
    until = std::max(until, now_) + 1;
    last_ = std::max(last_, until);
  }
  // When all work that is on the stream now is done.
  std::uint64_t done_at(StreamKey stream) const {
    const auto found = busy_until_.find(stream);
    return found == busy_until_.end() ? 0 : found->second;
  }
  bool is_past(std::uint64_t time) const { return time <= now_; }
  void wait_until(std::uint64_t time) { now_ = std::max(now_, time); }
  void sync(StreamKey stream) { wait_until(done_at(stream)); }
  void sync_all() { wait_until(last_); }
  // It has ended, and its key may come to name another; its work goes on.
  void forget(StreamKey stream) { busy_until_.erase(stream); }

 private:
  std::uint64_t now_ = 0;
  std::uint64_t last_ = 0;
  std::map<StreamKey, std::uint64_t> busy_until_;
};

}  // namespace cairn::testing
