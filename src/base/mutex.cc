#include "base/mutex.h"

#include <chrono>
#include <thread>

namespace cairn {
namespace {

constexpr int spins = 200;  // About as long as a few hits.
constexpr int yields = 50;
constexpr std::chrono::microseconds nap{50};

template <class IsOver>
void wait_until(IsOver is_over) {
  for (int looks = 0; !is_over(); ++looks) {
    if (looks < spins) continue;
    if (looks < spins + yields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(nap);
    }
  }
}

}  // namespace

void Mutex::wait_and_lock() {
  // Looking does not take the cache line from the holder, as an exchange would.
  wait_until([&] { return !is_locked_.load(std::memory_order_relaxed) && try_lock(); });
}

void Mutex::wait_until_unlocked() const {
  wait_until([&] { return !is_locked(); });
}

}  // namespace cairn
