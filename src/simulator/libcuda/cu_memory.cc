// The calls of cuda.h for memory and copies, by their own names.
#include "simulator/libcuda/copies.h"
#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/machine.h"

namespace sim = cairn::simulator;

namespace {

void* pointer_to(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

CUresult copy_and_wait(void* to, const void* from, std::size_t size) {
  const CUresult copied = sim::copy(to, from, size, nullptr);
  return copied == CUDA_SUCCESS ? sim::stream_synchronize(nullptr) : copied;
}

CUmemorytype type_of(const sim::Region& region) {
  const bool is_host =
      region.kind == sim::MemoryKind::host || region.kind == sim::MemoryKind::registered;
  return is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

template <class T>
CUresult put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return CUDA_SUCCESS;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t size) {
  return sim::mem_alloc(address, size);
}
CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t size, unsigned int flags) {
  return sim::mem_alloc_managed(address, size, flags);
}
CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width,
                            std::size_t height, unsigned int) {
  if (pitch == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + 511) / 512 * 512;
  return sim::mem_alloc(address, *pitch * height);
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return address == 0 ? CUDA_SUCCESS : sim::mem_free(address);
}
CUresult cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* total_bytes) {
  return sim::mem_get_info(free_bytes, total_bytes);
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t size, CUstream stream) {
  sim::StreamFacts facts;
  const CUresult known = sim::stream_facts(stream, &facts);
  return known == CUDA_SUCCESS ? sim::mem_alloc(address, size) : known;
}
// The memory goes back when the work before it is done: the host waits for that.
CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  const CUresult waited = sim::stream_synchronize(stream);
  return waited == CUDA_SUCCESS ? cuMemFree_v2(address) : waited;
}

CUresult cuMemHostAlloc(void** pointer, std::size_t size, unsigned int) {
  return sim::mem_host_alloc(pointer, size);
}
CUresult cuMemAllocHost_v2(void** pointer, std::size_t size) {
  return sim::mem_host_alloc(pointer, size);
}
CUresult cuMemFreeHost(void* pointer) {
  return sim::mem_host_release(pointer, sim::MemoryKind::host);
}
CUresult cuMemHostRegister_v2(void* pointer, std::size_t size, unsigned int) {
  return sim::mem_host_register(pointer, size);
}
CUresult cuMemHostUnregister(void* pointer) {
  return sim::mem_host_release(pointer, sim::MemoryKind::registered);
}
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned int) {
  sim::Region region;
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult found = sim::find_region(pointer, &region);
  if (found == CUDA_SUCCESS) *address = reinterpret_cast<CUdeviceptr>(pointer);
  return found;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* size, CUdeviceptr address) {
  sim::Region region;
  const CUresult found = sim::find_region(pointer_to(address), &region);
  if (found != CUDA_SUCCESS)
    return found == CUDA_ERROR_INVALID_VALUE ? CUDA_ERROR_NOT_FOUND : found;
  if (base != nullptr) *base = region.span.begin.value;
  if (size != nullptr) *size = region.span.size.count;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  sim::Region region;
  if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult bad = sim::find_region(pointer_to(address), &region)) return bad;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return sim::with_machine([&](sim::Machine& machine) {
        return put(data, machine.primary_context(region.home.device));
      });
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, type_of(region));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(data, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!region.is_backed || region.kind == sim::MemoryKind::device) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      return put(data, pointer_to(address));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, static_cast<int>(region.kind == sim::MemoryKind::managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, static_cast<int>(region.home.device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return put(data, region.span.begin.value);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return put(data, region.span.size.count);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(data, region.span.begin.value);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(data, 1);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(data, 0);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return sim::copy(pointer_to(to), pointer_to(from), size, stream);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return sim::copy(pointer_to(to), from, size, stream);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return sim::copy(to, pointer_to(from), size, stream);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return sim::copy(pointer_to(to), pointer_to(from), size, stream);
}
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return copy_and_wait(pointer_to(to), pointer_to(from), size);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t size) {
  return copy_and_wait(pointer_to(to), from, size);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t size) {
  return copy_and_wait(to, pointer_to(from), size);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return copy_and_wait(pointer_to(to), pointer_to(from), size);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return sim::fill(pointer_to(to), {value, 1}, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return sim::fill(pointer_to(to), {value, 2}, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return sim::fill(pointer_to(to), {value, 4}, count, stream);
}
CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return sim::fill(pointer_to(to), {value, 1}, count, nullptr);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return sim::fill(pointer_to(to), {value, 2}, count, nullptr);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, std::size_t count) {
  return sim::fill(pointer_to(to), {value, 4}, count, nullptr);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
