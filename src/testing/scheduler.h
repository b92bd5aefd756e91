// A cooperative scheduler: host threads of which one runs at a time, and another may have its turn
// only at the points where threads that share nothing but what locks guard can affect each other:
// each lock, look at a lock, unlock, call of the driver, and call of foreign code. So who is next
// at each point is a schedule, and a schedule is all that chance has to say.
//
// It exists in programs whose locks are those of scheduled/base/mutex.h alone; everywhere else
// exists() is false, and the rest does nothing (no_scheduler.cc).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cairn::testing {

class Scheduler {
 public:
  // One of those points.
  struct Point {
    int running = -1;          // Whose turn it was; -1 at the start.
    std::vector<int> can_run;  // In ascending order; never empty. The others wait, or are over.
  };
  struct Watch {
    // Who is next: one of point.can_run, or -1 where the schedule cannot be kept to.
    std::function<int(const Point& point)> choose;
    // A thread left a critical section, and another may come in now.
    std::function<void(int thread, const void* mutex)> unlocked;
    // Locks are taken in ascending order of rank, each rank once.
    std::function<int(const void* mutex)> rank;
  };
  struct Outcome {
    std::vector<int> schedule;  // Who had the turn from each point on.
    std::string fault;          // A rule of locks that was broken first; empty where none was.
    // A deadlock, or choose() had no answer: the threads stand where they stand for ever, and so
    // must all that they hold.
    bool is_stuck = false;
  };
  using Bodies = std::map<int, std::function<void()>>;  // By the thread's number.

  static bool exists();
  // Runs the bodies to their ends, each on a thread of its own. REQUIRES: exists(); it is not
  // called by a body.
  static Outcome run(const Bodies& bodies, const Watch& watch);

  // To be called before a call of the driver.
  static void before_driver_call();
  // To be called before foreign code runs, which must not be under a lock.
  static void before_foreign_code(const char* what);
  // The lock that the calling thread took last; null where it never took one.
  static const void* last_locked();

  // As long as it lives, the calling thread passes through all locks as if there were none, and no
  // other has its turn: for those who look on.
  class Unseen {
   public:
    Unseen();
    ~Unseen();
    Unseen(const Unseen&) = delete;
    Unseen& operator=(const Unseen&) = delete;

   private:
    [[maybe_unused]] const bool was_unseen_ = false;
  };
  // The opposite, within an Unseen.
  class Seen {
   public:
    Seen();
    ~Seen();
    Seen(const Seen&) = delete;
    Seen& operator=(const Seen&) = delete;

   private:
    [[maybe_unused]] const bool was_unseen_ = false;
  };
};

}  // namespace cairn::testing
