// The threads of a Scheduler, and whose turn it is. One runs at a time, so that nothing here needs
// a lock: what one did has happened when the next one's turn begins.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include "testing/scheduler.h"

namespace cairn::testing {

class Turns {
 public:
  // REQUIRES: `watch` outlives it, and it all its threads.
  explicit Turns(const Scheduler::Watch& watch) : watch_(watch) {}

  void add(int number, std::function<void()> body);
  // Until all are over, or none can go on.
  void run();
  Scheduler::Outcome& outcome() { return outcome_; }

  // The one that runs the calling thread; null where none does.
  static Turns* of_this_thread();

  // ---- by the thread whose turn it is ----
  // Another may be next.
  void reach_point();
  // Others are next until is_over() says so.
  void wait_until(std::function<bool()> is_over, const void* mutex);
  void note_fault(const std::string& fault);
  void take(const void* mutex);
  void leave(const void* mutex);
  const std::vector<const void*>& held() const { return current_->held; }
  std::string in_words(const std::vector<const void*>& locks) const;

 private:
  struct Thread {
    int number = 0;
    std::function<void()> body;
    std::binary_semaphore turn{0};
    std::function<bool()> waits_for;  // Null: it can go on.
    const void* waits_at = nullptr;
    bool is_over = false;
    std::vector<const void*> held;
    std::thread thread;
  };

  void work(Thread& thread);
  // Gives the turn to whoever is next, and gives whether that is the one that had it.
  bool pass_on(int running);
  void end_stuck();

  const Scheduler::Watch& watch_;
  std::map<int, std::unique_ptr<Thread>> threads_;
  Thread* current_ = nullptr;
  std::binary_semaphore done_{0};
  Scheduler::Outcome outcome_;
};

}  // namespace cairn::testing
