// A mutex for critical sections of a few dozen instructions that are nearly never contended: taking
// and leaving it is one atomic exchange each, inline, where std::mutex is two calls. A thread that
// finds it taken sleeps (three states: Drepper, "Futexes Are Tricky", 2011). Not recursive, not
// fair. It serves std::lock_guard.
#pragma once

#include <atomic>

namespace cairn {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock() {
    int expected = unlocked;
    if (state_.compare_exchange_strong(expected, locked, std::memory_order_acquire)) [[likely]] {
      return;
    }
    wait_for_lock();
  }

  // REQUIRES: the calling thread holds it.
  void unlock() {
    if (state_.exchange(unlocked, std::memory_order_release) == contended) [[unlikely]] {
      state_.notify_one();
    }
  }

 private:
  static constexpr int unlocked = 0;
  static constexpr int locked = 1;
  static constexpr int contended = 2;  // Locked, and somebody may be asleep.

  // Whoever was asleep must assume that others still are, and leaves the mutex contended.
  void wait_for_lock() {
    while (state_.exchange(contended, std::memory_order_acquire) != unlocked) {
      state_.wait(contended, std::memory_order_relaxed);
    }
  }

  std::atomic<int> state_{unlocked};
};

}  // namespace cairn
