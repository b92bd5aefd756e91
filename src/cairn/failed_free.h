// What the adapters say of a free that failed, where what gives back may throw nothing.
#pragma once

#include <cstdio>

namespace cairn {

// On stderr.
inline void say_failed_free(const void* pointer, const char* why) noexcept {
  std::fprintf(stderr, "cairn: a free of %p failed: %s\n", pointer, why);
}

}  // namespace cairn
