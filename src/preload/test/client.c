/* A plain client in C: allocates and frees in each way, the last block when the process ends. Says
 * what failed, and exits with 1. As a library it is run by run_client(). */
#include <cuda_runtime_api.h>
#include <stdio.h>

int run_client(void);

static void* last;

__attribute__((destructor)) static void free_the_last(void) {
  if (last != NULL && cudaFree(last) != cudaSuccess) printf("client: no free at exit\n");
}

static int succeeds(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return 1;
  printf("client: %s: %s\n", what, cudaGetErrorString(error));
  return 0;
}

static int all_succeed(void) {
  void* memory = NULL;
  for (int round = 0; round < 20; ++round) {
    if (!succeeds("cudaMalloc", cudaMalloc(&memory, 1 << 20)) ||
        !succeeds("cudaMemset", cudaMemset(memory, 0, 1 << 20)) ||
        !succeeds("cudaFree", cudaFree(memory)) ||
        !succeeds("cudaMallocAsync", cudaMallocAsync(&memory, 1 << 20, 0)) ||
        !succeeds("cudaMemsetAsync", cudaMemsetAsync(memory, 0, 1 << 20, 0)) ||
        !succeeds("cudaFreeAsync", cudaFreeAsync(memory, 0))) {
      return 0;
    }
  }
  return succeeds("cudaMalloc", cudaMalloc(&last, 512));
}

int run_client(void) { return all_succeed() ? 0 : 1; }

int main(void) { return run_client(); }
