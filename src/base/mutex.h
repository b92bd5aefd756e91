// A mutex for critical sections of a few dozen instructions that are nearly never contended. Taking
// it is one atomic exchange and leaving it a plain store: an exchange more, as a mutex needs that
// wakes sleepers, makes a hit a quarter dearer. The price: nobody is woken. A thread that finds the
// mutex taken spins, then yields, then naps (as absl::SpinLock does), so that it comes at the
// latest one nap after the holder left, be that after a driver call of milliseconds. Not recursive,
// not fair. It serves std::lock_guard.
#pragma once

#include <atomic>

namespace cairn {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    if (!try_lock()) [[unlikely]]
      wait_and_lock();
  }
  // Sequentially consistent, as is_locked() is: of two threads that each lock one mutex and then
  // look at the other's, one at least sees the other's locked.
  bool try_lock() { return !is_locked_.exchange(true); }
  bool is_locked() const { return is_locked_.load(); }
  // Returns when it was seen not locked; what its last holder did has then happened.
  void wait_until_unlocked() const;
  // REQUIRES: the calling thread holds it.
  void unlock() { is_locked_.store(false, std::memory_order_release); }

 private:
  void wait_and_lock();

  std::atomic<bool> is_locked_{false};
};

}  // namespace cairn
