#include "testing/scheduled/turns.h"

#include <algorithm>
#include <utility>

namespace cairn::testing {
namespace {

thread_local Turns* turns_of_this_thread = nullptr;

}  // namespace

Turns* Turns::of_this_thread() { return turns_of_this_thread; }

void Turns::add(int number, std::function<void()> body) {
  auto thread = std::make_unique<Thread>();
  thread->number = number;
  thread->body = std::move(body);
  threads_[number] = std::move(thread);
}

void Turns::run() {
  for (const auto& [number, thread] : threads_)
    thread->thread = std::thread([this, &each = *thread] { work(each); });
  static_cast<void>(pass_on(-1));
  done_.acquire();
  for (const auto& [number, thread] : threads_) {
    if (outcome_.is_stuck) {
      thread->thread.detach();
    } else {
      thread->thread.join();
    }
  }
}

void Turns::work(Thread& thread) {
  turns_of_this_thread = this;
  thread.turn.acquire();
  thread.body();
  if (!thread.held.empty()) note_fault("a thread ended with " + in_words(thread.held));
  thread.is_over = true;
  const bool all_are_over =
      std::ranges::all_of(threads_, [](const auto& each) { return each.second->is_over; });
  if (all_are_over) {
    done_.release();
  } else {
    static_cast<void>(pass_on(thread.number));
  }
}

bool Turns::pass_on(int running) {
  Scheduler::Point point{running, {}};
  for (const auto& [number, thread] : threads_) {
    if (thread->is_over) continue;
    if (thread->waits_for == nullptr || thread->waits_for()) point.can_run.push_back(number);
  }
  if (point.can_run.empty()) {
    end_stuck();
    return false;
  }
  const int next = watch_.choose(point);
  if (std::ranges::find(point.can_run, next) == point.can_run.end()) {
    outcome_.is_stuck = true;
    done_.release();
    return false;
  }
  outcome_.schedule.push_back(next);
  current_ = threads_.at(next).get();
  if (next == running) return true;
  current_->turn.release();
  return false;
}

void Turns::end_stuck() {
  std::string who;
  for (const auto& [number, thread] : threads_) {
    if (thread->is_over) continue;
    who += (who.empty() ? "T" : "; T") + std::to_string(number) + " waits for " +
           in_words({thread->waits_at}) + " and holds " + in_words(thread->held);
  }
  note_fault("deadlock: " + who);
  outcome_.is_stuck = true;
  done_.release();
}

void Turns::reach_point() {
  Thread& me = *current_;
  if (!pass_on(me.number)) me.turn.acquire();
}

void Turns::wait_until(std::function<bool()> is_over, const void* mutex) {
  Thread& me = *current_;
  if (is_over()) return;
  me.waits_for = std::move(is_over);
  me.waits_at = mutex;
  reach_point();
  me.waits_for = nullptr;
}

void Turns::take(const void* mutex) {
  const int rank = watch_.rank(mutex);
  for (const void* other : current_->held) {
    if (watch_.rank(other) >= rank)
      note_fault("takes " + in_words({mutex}) + " with " + in_words(current_->held) + " in hand");
  }
  current_->held.push_back(mutex);
}

void Turns::leave(const void* mutex) {
  const int number = current_->number;
  if (std::erase(current_->held, mutex) == 0)
    note_fault("unlocks " + in_words({mutex}) + ", which it does not hold");
  watch_.unlocked(number, mutex);
}

void Turns::note_fault(const std::string& fault) {
  const std::string who = current_ == nullptr ? "" : "T" + std::to_string(current_->number) + " ";
  if (outcome_.fault.empty()) outcome_.fault = who + fault;
}

std::string Turns::in_words(const std::vector<const void*>& locks) const {
  std::string words;
  for (const void* lock : locks) {
    if (!words.empty()) words += ", ";
    words += "a lock of rank " + (lock == nullptr ? "?" : std::to_string(watch_.rank(lock)));
  }
  return words.empty() ? "no lock" : words;
}

}  // namespace cairn::testing
