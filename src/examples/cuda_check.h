// What the examples do with errors of the CUDA runtime: say which call failed, and end.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace examples {

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s failed: %s\n", call, cudaGetErrorString(status));
  std::exit(1);
}

}  // namespace examples
