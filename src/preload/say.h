// What is wrong, in words on stderr, said once.
#pragma once

#include <atomic>
#include <cstdio>
#include <string>

namespace cairn::preload {

// Says it where `was_said` is not set yet.
inline void say_once(std::atomic_flag& was_said, const std::string& words) noexcept {
  if (was_said.test_and_set()) return;
  std::fprintf(stderr, "cairn: preload: %s\n", words.c_str());
}

}  // namespace cairn::preload
