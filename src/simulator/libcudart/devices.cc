// Devices, versions and errors.
#include "simulator/libcudart/runtime.h"

namespace sim = cairn::simulator::runtime;

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return sim::call([&] { return cuDeviceGetCount(count); });
}

cudaError_t cudaSetDevice(int device) {
  return sim::call([&] { return sim::use_device(device); });
}

cudaError_t cudaInitDevice(int device, unsigned int, unsigned int) {
  return sim::call([&] {
    CUdevice found = 0;
    return cuDeviceGet(&found, device);
  });
}

cudaError_t cudaGetDevice(int* device) {
  return sim::call_in_context([&] { return cuCtxGetDevice(device); });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  const auto same = static_cast<CUdevice_attribute>(attribute);
  return sim::call([&] { return cuDeviceGetAttribute(value, same, device); });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  return sim::call([&] { return cuDeviceGetPCIBusId(text, size, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  return sim::call([&] { return cuDeviceGetByPCIBusId(device, text); });
}

cudaError_t cudaDeviceSynchronize() {
  return sim::call_in_context([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceReset() {
  sim::forget_lost_device();
  return sim::call_in_context([] {
    CUdevice device = 0;
    const CUresult found = cuCtxGetDevice(&device);
    return found == CUDA_SUCCESS ? cuDevicePrimaryCtxReset(device) : found;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned int) {
  return sim::call([] { return CUDA_SUCCESS; });
}

cudaError_t cudaGetDeviceFlags(unsigned int* flags) {
  return sim::call([&] {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = cudaDeviceScheduleAuto;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return sim::call([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) {
  return sim::call([] { return CUDA_SUCCESS; });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit) {
  return sim::call([&] {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return sim::call([] { return CUDA_SUCCESS; });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return sim::call([&] { return cuDeviceCanAccessPeer(can, device, peer); });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned int flags) {
  return sim::call_in_context([&] {
    CUdevice found = 0;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return cuDeviceGet(&found, peer);
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) { return cudaDeviceEnablePeerAccess(peer, 0); }

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr, int device, int peer) {
  return cudaDeviceCanAccessPeer(value, device, peer);
}

cudaError_t cudaDriverGetVersion(int* driver_version) {
  return sim::remember(sim::error_of(cuDriverGetVersion(driver_version)));
}

cudaError_t cudaRuntimeGetVersion(int* runtime_version) {
  if (runtime_version == nullptr) return sim::remember(cudaErrorInvalidValue);
  *runtime_version = sim::version;
  return cudaSuccess;
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

cudaError_t cudaGetLastError() {
  const cudaError_t error = sim::last_error();
  sim::forget_last_error();
  return error;
}

cudaError_t cudaPeekAtLastError() { return sim::last_error(); }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
