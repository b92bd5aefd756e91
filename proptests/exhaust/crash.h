// What is done once should the code under test crash: the process is of no more use then, but can
// say by what.
//
// One at a time; not thread-safe.
#pragma once

#include <functional>

namespace cairn::exhaust {

class OnCrash {
 public:
  // `act` runs in the handler of the signal, on whatever is left; then the process ends by the
  // signal. Null: nothing is done.
  explicit OnCrash(std::function<void()> act);
  ~OnCrash();
  OnCrash(const OnCrash&) = delete;
  OnCrash& operator=(const OnCrash&) = delete;
};

}  // namespace cairn::exhaust
