// Memory of devices and of the host.
#include "simulator/libcuda/variables.h"
#include "simulator/libcudart/runtime.h"

namespace sim = cairn::simulator::runtime;

namespace {

// cudaFree of today's drivers waits for the device. CAIRN_SIM_FREE_WAITS=0: for nothing.
bool free_waits() {
  using namespace cairn::simulator;
  return value_of(variables::free_waits) != 1;
}

// What act() gives where the primary context of the memory's device is current, or the thread's
// own where nobody knows the memory.
template <class Act>
CUresult on_device_of(CUdeviceptr address, Act&& act) {
  CUdevice device = 0;
  CUdevice current = 0;
  cuCtxGetDevice(&current);
  if (cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address) !=
          CUDA_SUCCESS ||
      device == current) {
    return act();
  }
  CUcontext context = nullptr;
  if (const CUresult bad = cuDevicePrimaryCtxRetain(&context, device)) return bad;
  CUresult done = cuCtxPushCurrent(context);
  if (done == CUDA_SUCCESS) {
    done = act();
    cuCtxPopCurrent(&context);
  }
  cuDevicePrimaryCtxRelease(device);
  return done;
}

CUdeviceptr* address_in(void** pointer) { return reinterpret_cast<CUdeviceptr*>(pointer); }

// CUDA gives no memory where none is asked for, and says nothing of it.
template <class Allocate>
cudaError_t allocate(void** pointer, std::size_t size, Allocate&& allocate_some) {
  return sim::call_in_context([&] {
    if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (size == 0) {
      *pointer = nullptr;
      return CUDA_SUCCESS;
    }
    return allocate_some();
  });
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size) {
  return allocate(pointer, size, [&] { return cuMemAlloc(address_in(pointer), size); });
}

cudaError_t cudaMallocManaged(void** pointer, std::size_t size, unsigned int flags) {
  return allocate(pointer, size,
                  [&] { return cuMemAllocManaged(address_in(pointer), size, flags); });
}

cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width,
                            std::size_t height) {
  return allocate(pointer, width * height,
                  [&] { return cuMemAllocPitch(address_in(pointer), pitch, width, height, 4); });
}

cudaError_t cudaMallocAsync(void** pointer, std::size_t size, cudaStream_t stream) {
  return allocate(pointer, size, [&] {
    return cuMemAllocAsync(address_in(pointer), size, sim::stream_of(stream));
  });
}

cudaError_t cudaFree(void* pointer) {
  return sim::call_in_context([&] {
    if (pointer == nullptr) return CUDA_SUCCESS;
    return on_device_of(sim::address_of(pointer), [&] {
      const CUresult waited = free_waits() ? cuCtxSynchronize() : CUDA_SUCCESS;
      return waited == CUDA_SUCCESS ? cuMemFree(sim::address_of(pointer)) : waited;
    });
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return sim::call_in_context([&] {
    const CUdeviceptr address = sim::address_of(pointer);
    return on_device_of(address, [&] { return cuMemFreeAsync(address, sim::stream_of(stream)); });
  });
}

cudaError_t cudaHostAlloc(void** pointer, std::size_t size, unsigned int flags) {
  return allocate(pointer, size, [&] { return cuMemHostAlloc(pointer, size, flags); });
}

cudaError_t cudaMallocHost(void** pointer, std::size_t size) {
  return cudaHostAlloc(pointer, size, 0);
}

cudaError_t cudaFreeHost(void* pointer) {
  return sim::call_in_context(
      [&] { return pointer == nullptr ? CUDA_SUCCESS : cuMemFreeHost(pointer); });
}

cudaError_t cudaHostRegister(void* pointer, std::size_t size, unsigned int flags) {
  return sim::call_in_context([&] { return cuMemHostRegister(pointer, size, flags); });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return sim::call_in_context([&] { return cuMemHostUnregister(pointer); });
}

cudaError_t cudaHostGetDevicePointer(void** address, void* pointer, unsigned int flags) {
  return sim::call_in_context(
      [&] { return cuMemHostGetDevicePointer(address_in(address), pointer, flags); });
}

cudaError_t cudaHostGetFlags(unsigned int* flags, void*) {
  if (flags == nullptr) return sim::remember(cudaErrorInvalidValue);
  *flags = 0;
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  return sim::call_in_context([&] { return cuMemGetInfo(free_bytes, total_bytes); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return sim::call([&] {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    attributes->type = cudaMemoryTypeUnregistered;
    attributes->device = -2;  // What the runtime gives for memory that is no device's.
    attributes->hostPointer = const_cast<void*>(pointer);
    const CUdeviceptr address = sim::address_of(pointer);
    CUmemorytype type{};
    if (cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS) {
      return cudaSuccess;
    }
    int is_managed = 0;
    cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
    cuPointerGetAttribute(&attributes->device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
    attributes->devicePointer = const_cast<void*>(pointer);
    attributes->type = type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
    if (is_managed != 0) attributes->type = cudaMemoryTypeManaged;
    if (attributes->type == cudaMemoryTypeDevice) attributes->hostPointer = nullptr;
    return cudaSuccess;
  });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
