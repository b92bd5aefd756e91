// CAIRN_CUDA_CALL(name): a definition of that call of CUDA's which yields to any other. It says
// once that it is not simulated and gives "not supported", 801 in both of CUDA's interfaces,
// whatever its parameters are.
#pragma once

#include <atomic>
#include <cstdio>

namespace cairn::simulator {

inline int not_simulated(const char* name, std::atomic_flag& was_said) {
  if (!was_said.test_and_set()) {
    std::fprintf(stderr, "cairn: simulated CUDA: %s is not simulated; not supported (801)\n", name);
  }
  return 801;
}

}  // namespace cairn::simulator

#define CAIRN_CUDA_CALL(name)                                \
  extern "C" __attribute__((weak)) int name();               \
  int name() {                                               \
    static std::atomic_flag was_said;                        \
    return cairn::simulator::not_simulated(#name, was_said); \
  }
