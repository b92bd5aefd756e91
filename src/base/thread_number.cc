#include "base/thread_number.h"

#include <atomic>
#include <utility>

namespace cairn {
namespace {

thread_local std::uint64_t current = 0;  // 0: the thread never asked.

}  // namespace

std::uint64_t this_thread_number() {
  static std::atomic<std::uint64_t> last{0};
  if (current == 0) current = ++last;
  return current;
}

std::uint64_t exchange_thread_number(std::uint64_t number) {
  return std::exchange(current, number);
}

}  // namespace cairn
