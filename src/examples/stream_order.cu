// What a stream's order is worth: a block is freed while kernels that use it are still queued, and
// the next allocation for the same stream is the same memory, at once. Each kernel finds what it
// needs, since it runs behind those that used the memory before; nobody ever waits.
//
// With settings of one's own, over the machine's CUDA driver. Exits with 0 if all results are
// right.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "cuda_check.h"

namespace {

using examples::check;

constexpr int steps = 1000;
constexpr int numbers = 1 << 16;
constexpr std::size_t bytes = numbers * sizeof(int);

__global__ void plus_one(int* out, const int* in, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = in[i] + 1;
}

int run() {
  cairn::Options options;
  options.max_split_size_bytes = std::uint64_t{128} << 20;
  cairn::Allocator allocator(cairn::cuda_driver(), options);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");

  auto* now = static_cast<int*>(allocator.allocate({bytes, 0, stream}));
  check(cudaMemsetAsync(now, 0, bytes, stream), "cudaMemsetAsync");
  int reused = 0;
  const int* last_freed = nullptr;
  for (int step = 0; step < steps; ++step) {
    auto* next = static_cast<int*>(allocator.allocate({bytes, 0, stream}));
    reused += next == last_freed;
    plus_one<<<numbers / 256, 256, 0, stream>>>(next, now, numbers);
    allocator.free(now, bytes, stream);  // Checked: the size and the stream must be right.
    last_freed = now;
    now = next;
  }
  check(cudaGetLastError(), "a kernel launch");

  std::vector<int> results(numbers);
  check(cudaMemcpyAsync(results.data(), now, bytes, cudaMemcpyDeviceToHost, stream),
        "cudaMemcpyAsync");
  check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  int wrong = 0;
  for (const int result : results) wrong += result != steps;
  std::printf(
      "stream_order: %d steps, %d times the memory just freed, %lld calls of cuMemAlloc, "
      "%d of %d results wrong\n",
      steps, reused, static_cast<long long>(allocator.stats(0).num_device_alloc), wrong, numbers);

  allocator.free(now);
  allocator.empty_cache();
  allocator.forget_stream(0, stream);
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return wrong == 0 && reused > 0 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const cairn::Exception& failure) {
    std::fprintf(stderr, "stream_order: %s\n", failure.what());
    return 1;
  }
}
