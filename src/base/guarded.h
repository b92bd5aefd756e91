// A state and the mutex that guards it, so that there is no way to the state but through the lock.
// With a LaneMutex a thread may also lock one lane of it.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>

#include "base/mutex.h"

namespace cairn {

template <class State, class StateMutex = Mutex>
class Guarded {
 public:
  template <class... Args>
  explicit Guarded(Args&&... args) : state_(std::forward<Args>(args)...) {}

  // Holds the lock for as long as it lives.
  template <class S>
  class Access {
   public:
    Access(StateMutex& mutex, S& state) : lock_(mutex), state_(state) {}
    S& operator*() const { return state_; }
    S* operator->() const { return &state_; }

   private:
    std::lock_guard<StateMutex> lock_;
    S& state_;
  };

  // Holds a lane's lock for as long as it lives, unless it is false. REQUIRES: of the state only
  // what its lanes are made of is used, or read what only holders of the whole change.
  class LaneAccess {
   public:
    LaneAccess(Mutex* mutex, State& state) : mutex_(mutex), state_(state) {}
    LaneAccess(const LaneAccess&) = delete;
    LaneAccess& operator=(const LaneAccess&) = delete;
    ~LaneAccess() {
      if (mutex_ != nullptr) mutex_->unlock();
    }
    explicit operator bool() const { return mutex_ != nullptr; }
    State* operator->() const { return &state_; }

   private:
    Mutex* const mutex_;
    State& state_;
  };

  Access<State> lock() { return {mutex_, state_}; }
  Access<const State> lock() const { return {mutex_, state_}; }
  bool is_locked() const { return mutex_.is_locked(); }
  LaneAccess try_lock_lane(std::size_t lane) { return {mutex_.try_lock_lane(lane), state_}; }

 private:
  mutable StateMutex mutex_;
  State state_;
};

}  // namespace cairn
