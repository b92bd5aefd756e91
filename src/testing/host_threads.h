// The host threads of a Program. Thread 0 is the one that calls. It plays all the others too, one
// task at a time, each under a number of its own (base/thread_number.h), by which alone the
// allocator tells threads apart: a hand-over between real threads would cost more than most tasks.
//
// Not thread-safe: belongs to the thread that uses it.
#pragma once

#include <cstdint>
#include <map>

#include "base/thread_number.h"

namespace cairn::testing {

class HostThreads {
 public:
  template <class Task>
  void run(int thread, Task&& task) {
    if (thread == 0) return task();
    const Turn turn(numbers_[thread]);
    task();
  }
  // The same on a thread of the process that has no number of its own, for thread 0 too.
  template <class Task>
  void run_apart(int thread, Task&& task) {
    if (thread != 0) return run(thread, task);
    const std::uint64_t own = exchange_thread_number(main_);
    task();
    exchange_thread_number(own);
  }
  // A later task of this number runs on a new thread.
  void end(int thread) { numbers_.erase(thread); }

 private:
  // The thread with that number has its turn, and keeps the number that it is known by after it.
  class Turn {
   public:
    explicit Turn(std::uint64_t& number) : number_(number), own_(exchange_thread_number(number)) {}
    ~Turn() { number_ = exchange_thread_number(own_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    std::uint64_t& number_;
    const std::uint64_t own_;
  };

  const std::uint64_t main_ = this_thread_number();  // Of the one that made this.
  std::map<int, std::uint64_t> numbers_;             // 0: the thread never asked for it.
};

}  // namespace cairn::testing
