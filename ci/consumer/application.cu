// As application.cc, with a kernel, and with every public header, as nvcc compiles them.
#include <cstdio>

#include "every_header.h"

__global__ void fill(float* out, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = 1.0f;
}

int main() {
  constexpr int count = 1 << 20;
  try {
    const cairn::Buffer buffer(cairn::default_allocator(), {count * sizeof(float)});
    fill<<<count / 256, 256>>>(static_cast<float*>(buffer.data()), count);
    const cudaError_t status = cudaDeviceSynchronize();
    std::printf("application: %s\n", cudaGetErrorString(status));
    return status == cudaSuccess ? 0 : 2;
  } catch (const cairn::Exception& failure) {
    std::fprintf(stderr, "application: %s\n", failure.what());
    return 1;
  }
}
