// The functions of librmm.so by which device buffers, resources, pools and streams reach the CUDA
// runtime, over the runtime that the program links. librmm.so has a static one in it, which needs
// NVIDIA's driver, and which neither the simulated CUDA nor stubs serve; it calls these by the
// dynamic linker, which takes the program's own first. For RMM 26.04 (bench/peers) and 26.10.
#include <cuda_runtime_api.h>

#include <rmm/cuda_device.hpp>
#include <rmm/cuda_stream_view.hpp>
#include <rmm/detail/error.hpp>

#ifdef RMM_NAMESPACE_BEGIN  // Since 26.10.
#include <rmm/detail/cuda_memcpy.hpp>

RMM_NAMESPACE_BEGIN
namespace detail {
cudaError_t memcpy_async(void* to, const void* from, std::size_t bytes, cuda::stream_ref stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream.get());
}
}  // namespace detail
#else
#define RMM_NAMESPACE_END }
namespace rmm {
#endif

cuda_device_id get_current_cuda_device() {
  int device = 0;
  RMM_CUDA_TRY(cudaGetDevice(&device));
  return cuda_device_id{device};
}

std::pair<std::size_t, std::size_t> available_device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  RMM_CUDA_TRY(cudaMemGetInfo(&free, &total));
  return {free, total};
}

cuda_set_device_raii::cuda_set_device_raii(cuda_device_id device)
    : old_device_{get_current_cuda_device()},
      needs_reset_{device.value() >= 0 && old_device_ != device} {
  if (needs_reset_) RMM_CUDA_TRY(cudaSetDevice(device.value()));
}
cuda_set_device_raii::~cuda_set_device_raii() noexcept {
  if (needs_reset_) cudaSetDevice(old_device_.value());
}

void cuda_stream_view::synchronize() const { RMM_CUDA_TRY(cudaStreamSynchronize(value())); }
void cuda_stream_view::synchronize_no_throw() const noexcept { cudaStreamSynchronize(value()); }

RMM_NAMESPACE_END
