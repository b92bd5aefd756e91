// One block of memory, used by two streams and freed at once: a producer fills it on the stream
// that it was allocated for, a consumer reads it on another. record_stream() tells Cairn of the
// second, so free() need not wait: the memory is handed out again only when the consumer is done.
//
// Prints what the allocator counted. Exits with 0 if all results are right.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "cairn/allocator.h"
#include "cuda_check.h"

namespace {

using examples::check;

constexpr int rounds = 64;
constexpr int numbers = 1 << 20;

__global__ void fill(float* out, int count, float value) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = value;
}

__global__ void add(float* sum, const float* in, int count) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) sum[i] += in[i];
}

// Adds 1 + 2 + ... + rounds to every element of `sum`.
void run_rounds(cairn::Allocator& allocator, float* sum, cudaStream_t producer,
                cudaStream_t consumer) {
  const int blocks = (numbers + 255) / 256;
  cudaEvent_t filled = nullptr;
  check(cudaEventCreateWithFlags(&filled, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  for (int round = 1; round <= rounds; ++round) {
    auto* block = static_cast<float*>(allocator.allocate({numbers * sizeof(float), 0, producer}));
    fill<<<blocks, 256, 0, producer>>>(block, numbers, static_cast<float>(round));
    check(cudaEventRecord(filled, producer), "cudaEventRecord");
    check(cudaStreamWaitEvent(consumer, filled, 0), "cudaStreamWaitEvent");
    add<<<blocks, 256, 0, consumer>>>(sum, block, numbers);
    allocator.record_stream(block, consumer);
    allocator.free(block);  // Neither kernel need have run yet.
  }
  check(cudaGetLastError(), "a kernel launch");
  check(cudaEventDestroy(filled), "cudaEventDestroy");
}

int count_wrong(const float* sum) {
  std::vector<float> results(numbers);
  check(cudaMemcpy(results.data(), sum, numbers * sizeof(float), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
  int wrong = 0;
  for (const float result : results) wrong += result != rounds * (rounds + 1) / 2.0f;
  return wrong;
}

int run(cairn::Allocator& allocator) {
  cudaStream_t producer = nullptr;
  cudaStream_t consumer = nullptr;
  check(cudaStreamCreate(&producer), "cudaStreamCreate");
  check(cudaStreamCreate(&consumer), "cudaStreamCreate");
  auto* sum = static_cast<float*>(allocator.allocate({numbers * sizeof(float), 0, consumer}));
  check(cudaMemsetAsync(sum, 0, numbers * sizeof(float), consumer), "cudaMemsetAsync");
  run_rounds(allocator, sum, producer, consumer);
  check(cudaStreamSynchronize(consumer), "cudaStreamSynchronize");
  const int wrong = count_wrong(sum);
  allocator.free(sum);

  const cairn::DeviceStats stats = allocator.stats(0);
  std::printf("two_streams: %d rounds, %d of %d results wrong\n", rounds, wrong, numbers);
  std::printf("  allocations          %10lld\n",
              static_cast<long long>(stats.allocation.all.allocated));
  std::printf("  calls of cuMemAlloc  %10lld\n", static_cast<long long>(stats.num_device_alloc));
  std::printf("  peak allocated       %10lld bytes\n",
              static_cast<long long>(stats.allocated_bytes.all.peak));
  std::printf("  peak reserved        %10lld bytes\n",
              static_cast<long long>(stats.reserved_bytes.all.peak));

  for (cudaStream_t stream : {producer, consumer}) {
    allocator.forget_stream(0, stream);  // Before CUDA gives its handle to another.
    check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  }
  allocator.empty_cache();
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run(cairn::default_allocator());
  } catch (const cairn::Exception& failure) {
    std::fprintf(stderr, "two_streams: %s\n", failure.what());
    return 1;
  }
}
