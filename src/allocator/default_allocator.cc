// What a whole process shares: its CUDA driver and the allocator over it. Both are made at first
// use and never destroyed, so that nothing of Cairn's runs at exit, when the driver may be gone.
#include <atomic>
#include <memory>
#include <mutex>

#include "allocator/checked_options.h"
#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "driver/cuda_driver.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

// At most one T for good, which is made by the first call of get() whose `make` does not throw.
template <class T>
class Lasting {
 public:
  template <class Make>  // Make: std::unique_ptr<T>()
  T& get(Make&& make) {
    if (T* made = made_.load(std::memory_order_acquire)) return *made;
    const std::lock_guard lock(mutex_);
    if (T* made = made_.load(std::memory_order_relaxed)) return *made;
    T* made = make().release();
    made_.store(made, std::memory_order_release);
    return *made;
  }

 private:
  std::mutex mutex_;
  std::atomic<T*> made_{nullptr};
};

constinit Lasting<Driver> the_driver;
constinit Lasting<Allocator> the_allocator;

}  // namespace

Driver& cuda_driver() {
  return the_driver.get([] {
    auto opened = open_cuda_driver();
    if (!opened) {
      CAIRN_PROBE("driver.not_opened");
      throw_error(opened.error());
    }
    return std::move(*opened);
  });
}

Allocator& default_allocator() {
  return the_allocator.get([] {
    // Before the driver: mistakes in them show on machines without a GPU too.
    const Options options = options_from_environment();
    return std::make_unique<Allocator>(cuda_driver(), options);
  });
}

}  // namespace cairn
