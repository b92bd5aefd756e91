// What the pool and the arena call of librmm.so that calls CUDA, over the libcudart.so.13 that is
// found first: librmm.so's own functions of these names call the runtime that is linked into it,
// which needs NVIDIA's driver ("CUDA driver version is insufficient", 35).
#include <cuda_runtime_api.h>

#include <rmm/cuda_device.hpp>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/error.hpp>

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

void cuda_stream_view::synchronize() const {
  if (cudaStreamSynchronize(value()) != cudaSuccess) throw cuda_error("the stream failed");
}
void cuda_stream_view::synchronize_no_throw() const noexcept { cudaStreamSynchronize(value()); }

}  // namespace rmm
