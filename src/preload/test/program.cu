// A program as others write them, built by nvcc against CUDA's own runtime. Prints what is wrong
// and exits with 1, or exits with 0.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

namespace {

__global__ void fill(int* numbers) { numbers[threadIdx.x] = 7; }

bool succeeds(const char* what, cudaError_t error) {
  if (error != cudaSuccess) std::printf("program: %s: %s\n", what, cudaGetErrorString(error));
  return error == cudaSuccess;
}

bool copies_there_and_back() {
  std::vector<int> sent(1000);
  for (int i = 0; i < 1000; ++i) sent[static_cast<std::size_t>(i)] = i;
  std::vector<int> received(1000);
  int* memory = nullptr;
  const bool is_done =
      succeeds("cudaMalloc", cudaMalloc(&memory, 4000)) &&
      succeeds("there", cudaMemcpy(memory, sent.data(), 4000, cudaMemcpyHostToDevice)) &&
      succeeds("back", cudaMemcpy(received.data(), memory, 4000, cudaMemcpyDeviceToHost)) &&
      succeeds("cudaFree", cudaFree(memory));
  if (is_done && sent != received) std::printf("program: what came back is not what was sent\n");
  return is_done && sent == received;
}

bool launches(cudaStream_t stream) {
  int* memory = nullptr;
  if (!succeeds("cudaMallocAsync", cudaMallocAsync(&memory, 4096, stream))) return false;
  fill<<<1, 32, 0, stream>>>(memory);
  return succeeds("launch", cudaGetLastError()) &&
         succeeds("cudaFreeAsync", cudaFreeAsync(memory, stream));
}

}  // namespace

int main() {
  cudaStream_t stream = nullptr;
  if (!succeeds("cudaStreamCreate", cudaStreamCreate(&stream))) return 1;
  for (int round = 0; round < 20; ++round) {
    if (!copies_there_and_back() || !launches(stream)) return 1;
  }
  return succeeds("cudaStreamDestroy", cudaStreamDestroy(stream)) ? 0 : 1;
}
