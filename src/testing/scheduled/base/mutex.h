// Stands in for src/base/mutex.h where a scheduler decides who is next (testing/scheduler.h): found
// first, since this folder's parent stands before src among the include folders.
#pragma once

namespace cairn {

class Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  void lock();
  bool try_lock();
  bool is_locked() const;
  void wait_until_unlocked() const;
  void unlock();

 private:
  bool is_locked_ = false;  // One thread runs at a time.
};

}  // namespace cairn
