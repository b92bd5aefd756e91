// Work that pauses in the middle, and goes on when it is told to: on a thread of its own, that runs
// only while the one who tells it waits.
#pragma once

#include <functional>
#include <semaphore>
#include <thread>

namespace cairn::testing {

class Aside {
 public:
  // Nothing happens before go_on(). REQUIRES: the work throws nothing of its own.
  explicit Aside(std::function<void()> work);
  // Work that is not over ends where it paused: pause() throws.
  ~Aside();
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  // Until the work pauses or is over. REQUIRES: !is_over().
  void go_on();
  bool is_over() const { return is_over_; }

  // Called by the work.
  void pause();

 private:
  struct Ended {};  // Thrown through the work.

  void run();

  const std::function<void()> work_;
  bool is_over_ = false;
  bool ends_ = false;
  std::binary_semaphore turn_{0};
  std::binary_semaphore back_{0};
  std::thread thread_;
};

}  // namespace cairn::testing
