// A mutex for a state of which parts, its lanes, can be used apart from each other. Who locks it
// has the whole state; who locks a lane has that lane, and may read what only holders of the whole
// change. Locking a lane is one atomic exchange and a look at a flag that seldom changes, so that
// threads in different lanes share no cache line that is written.
//
// The holder of the whole waits until no lane is locked; who locks a lane then looks whether the
// whole is locked, and leaves if so. Not recursive, not fair. It serves std::lock_guard.
#pragma once

#include <array>
#include <cstddef>

#include "base/mutex.h"

namespace cairn {

template <std::size_t lane_count>
class LaneMutex {
 public:
  void lock() {
    whole_.mutex.lock();
    for (const Line& lane : lanes_) {
      if (lane.mutex.is_locked()) [[unlikely]]
        lane.mutex.wait_until_unlocked();
    }
  }
  void unlock() { whole_.mutex.unlock(); }
  bool is_locked() const { return whole_.mutex.is_locked(); }  // As a whole.

  // The lane's mutex, locked; null, and nothing is locked, where somebody has or wants the whole.
  // REQUIRES: the calling thread holds nothing of this.
  Mutex* try_lock_lane(std::size_t lane) {
    Mutex& mutex = lanes_[lane].mutex;
    mutex.lock();
    if (!whole_.mutex.is_locked()) [[likely]]
      return &mutex;
    mutex.unlock();
    return nullptr;
  }

 private:
  // Of its own, and not of the pair of cache lines that is fetched as one.
  struct alignas(128) Line {
    Mutex mutex;
  };

  Line whole_;
  std::array<Line, lane_count> lanes_;
};

}  // namespace cairn
