// What librmm.so says of devices, over the libcudart.so.13 that is found first: its own functions
// of these names ask the runtime that is linked into it, which needs NVIDIA's driver.
#include <cuda_runtime_api.h>

#include <rmm/cuda_device.hpp>

namespace rmm {

cuda_device_id get_current_cuda_device() {
  int device = 0;
  cudaGetDevice(&device);
  return cuda_device_id(device);
}

std::pair<std::size_t, std::size_t> available_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return {free, total};
}

}  // namespace rmm
