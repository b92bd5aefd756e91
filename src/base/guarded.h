// A state and the mutex that guards it, so that there is no way to the state but through the lock.
#pragma once

#include <mutex>
#include <utility>

#include "base/mutex.h"

namespace cairn {

template <class State>
class Guarded {
 public:
  template <class... Args>
  explicit Guarded(Args&&... args) : state_(std::forward<Args>(args)...) {}

  // Holds the lock for as long as it lives.
  template <class S>
  class Access {
   public:
    Access(Mutex& mutex, S& state) : lock_(mutex), state_(state) {}
    S& operator*() const { return state_; }
    S* operator->() const { return &state_; }

   private:
    std::lock_guard<Mutex> lock_;
    S& state_;
  };

  Access<State> lock() { return {mutex_, state_}; }
  Access<const State> lock() const { return {mutex_, state_}; }

 private:
  mutable Mutex mutex_;
  State state_;
};

}  // namespace cairn
