// The scheduler, and the locks that obey it.
#include "testing/scheduler.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/mutex.h"
#include "testing/scheduled/turns.h"

namespace cairn {
namespace {

using testing::Turns;

struct OfThread {
  bool is_unseen = false;
  bool looked = false;  // Since its last point it did nothing but look at locks.
  const void* last_locked = nullptr;
};
thread_local OfThread me;

void reach_point() {
  me.looked = false;
  if (Turns* turns = Turns::of_this_thread()) turns->reach_point();
}

}  // namespace

void Mutex::lock() {
  if (me.is_unseen) return;
  reach_point();
  Turns* turns = Turns::of_this_thread();
  if (turns != nullptr) {
    turns->wait_until([this] { return !is_locked_; }, this);
    turns->take(this);
  } else if (is_locked_) {
    std::fprintf(stderr, "cairn: a lock is taken twice by one thread\n");
    std::abort();
  }
  is_locked_ = true;
  me.last_locked = this;
}

bool Mutex::try_lock() {
  if (me.is_unseen) return true;
  reach_point();
  if (is_locked_) return false;
  if (Turns* turns = Turns::of_this_thread()) turns->take(this);
  is_locked_ = true;
  return true;
}

// Of a row of looks the first alone is a point: what another does between two of them it can as
// well do before or after both, or the looker would have seen it locked and come back.
bool Mutex::is_locked() const {
  if (me.is_unseen) return false;
  if (!me.looked) reach_point();
  me.looked = true;
  return is_locked_;
}

void Mutex::wait_until_unlocked() const {
  if (me.is_unseen) return;
  if (Turns* turns = Turns::of_this_thread())
    turns->wait_until([this] { return !is_locked_; }, this);
}

void Mutex::unlock() {
  if (me.is_unseen) return;
  if (Turns* turns = Turns::of_this_thread()) turns->leave(this);
  is_locked_ = false;
  reach_point();
}

namespace testing {

bool Scheduler::exists() { return true; }

Scheduler::Outcome Scheduler::run(const Bodies& bodies, const Watch& watch) {
  auto turns = std::make_unique<Turns>(watch);
  for (const auto& [number, body] : bodies) turns->add(number, body);
  turns->run();
  Outcome outcome = turns->outcome();
  if (outcome.is_stuck) static_cast<void>(turns.release());  // Its threads stand in it.
  return outcome;
}

void Scheduler::before_driver_call() { reach_point(); }

void Scheduler::before_foreign_code(const char* what) {
  Turns* turns = Turns::of_this_thread();
  if (turns == nullptr) return;
  if (!turns->held().empty())
    turns->note_fault(std::string("runs ") + what + " with " + turns->in_words(turns->held()) +
                      " in hand");
  reach_point();
}

const void* Scheduler::last_locked() { return me.last_locked; }

Scheduler::Unseen::Unseen() : was_unseen_(std::exchange(me.is_unseen, true)) {}
Scheduler::Unseen::~Unseen() { me.is_unseen = was_unseen_; }
Scheduler::Seen::Seen() : was_unseen_(std::exchange(me.is_unseen, false)) {}
Scheduler::Seen::~Seen() { me.is_unseen = was_unseen_; }

}  // namespace testing
}  // namespace cairn
