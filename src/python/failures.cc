#include "python/failures.h"

#include <mutex>

#include "cairn/allocator.h"

namespace cairn::python {
namespace {

struct Kept {
  std::mutex mutex;
  Error failure;
};

Kept& kept() {
  static auto* const never_ends = new Kept;  // As the allocator, which tells it.
  return *never_ends;
}

void keep(const Error& failure) {
  const std::lock_guard<std::mutex> lock(kept().mutex);
  kept().failure = failure;
}

}  // namespace

void watch_failures() {
  static std::once_flag once;
  std::call_once(once, [] { default_allocator().add_out_of_memory_observer(keep); });
}

Error last_failure() {
  const std::lock_guard<std::mutex> lock(kept().mutex);
  return kept().failure;
}

void forget_last_failure() { keep({}); }

}  // namespace cairn::python
