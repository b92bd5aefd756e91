#include "base/thread_number.h"

#include <atomic>

namespace cairn {

std::uint64_t this_thread_number() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t number = ++last;
  return number;
}

}  // namespace cairn
