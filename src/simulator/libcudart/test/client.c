/* A plain client in C: allocates, copies there and back, frees. Says what failed, and exits with 1. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <string.h>

static int succeeds(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return 1;
  printf("client: %s: %s\n", what, cudaGetErrorString(error));
  return 0;
}

int main(void) {
  const char sent[] = "bytes";
  char received[sizeof sent] = "";
  void* memory = NULL;
  void* pinned = NULL;
  if (!succeeds("cudaMalloc", cudaMalloc(&memory, sizeof sent)) ||
      !succeeds("cudaMallocHost", cudaMallocHost(&pinned, sizeof sent)) ||
      !succeeds("there", cudaMemcpy(memory, sent, sizeof sent, cudaMemcpyHostToDevice)) ||
      !succeeds("to pinned", cudaMemcpy(pinned, memory, sizeof sent, cudaMemcpyDefault)) ||
      !succeeds("back", cudaMemcpy(received, memory, sizeof sent, cudaMemcpyDeviceToHost)) ||
      !succeeds("cudaFreeHost", cudaFreeHost(pinned)) ||
      !succeeds("cudaFree", cudaFree(memory))) {
    return 1;
  }
  if (strcmp(sent, received) != 0) {
    printf("client: what came back is '%s'\n", received);
    return 1;
  }
  return 0;
}
