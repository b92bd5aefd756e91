// A program as others write them, built by nvcc against CUDA's own runtime: a kernel, streams,
// events, copies there and back. Prints what is wrong and exits with 1, or exits with 0.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

__device__ int device_number;
__global__ void kernel(int* numbers) { numbers[threadIdx.x] = device_number; }

int failures = 0;

void expect(bool holds, const char* what) {
  if (holds) return;
  std::printf("program: %s does not hold\n", what);
  ++failures;
}
#define EXPECT(condition) expect(condition, #condition)

void copies_there_and_back() {
  std::vector<int> sent(1000);
  for (int i = 0; i < 1000; ++i) sent[static_cast<std::size_t>(i)] = i;
  std::vector<int> received(1000, -1);
  void* memory = nullptr;
  EXPECT(cudaMalloc(&memory, 4000) == cudaSuccess);
  EXPECT(cudaMemcpy(memory, sent.data(), 4000, cudaMemcpyHostToDevice) == cudaSuccess);
  EXPECT(cudaMemset(memory, 0xff, 4) == cudaSuccess);
  EXPECT(cudaMemcpy(received.data(), memory, 4000, cudaMemcpyDeviceToHost) == cudaSuccess);
  EXPECT(received[0] == -1);
  EXPECT(received[999] == 999);
  EXPECT(cudaFree(memory) == cudaSuccess);
  EXPECT(cudaMemcpy(memory, sent.data(), 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  EXPECT(cudaGetLastError() == cudaSuccess);
}

void a_symbol() {
  int number = 7;
  EXPECT(cudaMemcpyToSymbol(device_number, &number, sizeof number) == cudaSuccess);
  number = 0;
  EXPECT(cudaMemcpyFromSymbol(&number, device_number, sizeof number) == cudaSuccess);
  EXPECT(number == 7);
}

void kernels_and_events() {
  cudaStream_t stream = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  int* memory = nullptr;
  float milliseconds = 0;
  EXPECT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  EXPECT(cudaEventCreate(&begin) == cudaSuccess);
  EXPECT(cudaEventCreate(&end) == cudaSuccess);
  EXPECT(cudaMallocAsync(&memory, 4096, stream) == cudaSuccess);
  EXPECT(cudaEventRecord(begin, stream) == cudaSuccess);
  kernel<<<1, 32, 0, stream>>>(memory);
  EXPECT(cudaGetLastError() == cudaSuccess);
  EXPECT(cudaEventRecord(end, stream) == cudaSuccess);
  EXPECT(cudaEventQuery(end) == cudaErrorNotReady);
  EXPECT(cudaEventSynchronize(end) == cudaSuccess);
  EXPECT(cudaEventElapsedTime(&milliseconds, begin, end) == cudaSuccess);
  EXPECT(milliseconds > 0);
  EXPECT(cudaFreeAsync(memory, stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaSuccess);
  EXPECT(cudaStreamDestroy(stream) == cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventDestroy(begin) == cudaSuccess);
  EXPECT(cudaEventDestroy(begin) == cudaErrorInvalidResourceHandle);
  EXPECT(cudaEventDestroy(end) == cudaSuccess);
}

void properties() {
  cudaDeviceProp properties;
  int count = 0;
  EXPECT(cudaGetDeviceCount(&count) == cudaSuccess && count == 1);
  EXPECT(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  EXPECT(properties.totalGlobalMem == std::size_t{80} << 30);
  EXPECT(properties.major == 9 && properties.warpSize == 32);
  EXPECT(properties.multiProcessorCount == 132);
  EXPECT(properties.reservedSharedMemPerBlock == 1024);
  EXPECT(cudaGetDeviceProperties(&properties, 1) == cudaErrorInvalidDevice);
}

}  // namespace

int main() {
  properties();
  copies_there_and_back();
  a_symbol();
  cudaGetLastError();
  kernels_and_events();
  return failures == 0 ? 0 : 1;
}
