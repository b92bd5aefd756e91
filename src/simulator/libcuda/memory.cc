// Memory of devices and of the host, in the thread's current context.
#include <cuda.h>

#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

Home home_of(CUcontext context) { return {context->device, context->handle}; }

CUresult allocate(CUdeviceptr* address, std::size_t size, MemoryKind kind) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto given = machine.calls.malloc(current->device, Bytes{size});
    if (!given) return code_of(given);
    if (!machine.memory.add_of_device({*given, Bytes{size}}, home_of(current), kind)) {
      const auto undone = machine.gpu.free(current->device, *given);
      return undone ? CUDA_ERROR_OUT_OF_MEMORY : code_of(undone);
    }
    *address = given->value;
    return CUDA_SUCCESS;
  });
}

Address address_of(const void* pointer) { return {reinterpret_cast<std::uint64_t>(pointer)}; }

}  // namespace

CUresult mem_alloc(CUdeviceptr* address, std::size_t size) {
  return allocate(address, size, MemoryKind::device);
}

CUresult mem_alloc_managed(CUdeviceptr* address, std::size_t size, unsigned int flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return allocate(address, size, MemoryKind::managed);
}

CUresult mem_free(CUdeviceptr address) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    const auto freed = machine.calls.free(current->device, Address{address});
    if (freed) machine.memory.remove(Address{address});
    return code_of(freed);
  });
}

CUresult mem_get_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (free_bytes == nullptr || total_bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto info = machine.calls.mem_info(current->device);
    if (!info) return code_of(info);
    *free_bytes = info->free.count;
    *total_bytes = info->total.count;
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_alloc(void** pointer, std::size_t size) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (pointer == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto begin = machine.memory.add_of_host(Bytes{size}, home_of(current));
    if (!begin) return CUDA_ERROR_OUT_OF_MEMORY;
    *pointer = reinterpret_cast<void*>(begin->value);
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_release(void* pointer, MemoryKind kind) {
  return in_current_context([&](Machine& machine, CUcontext) {
    const Region* const region = machine.memory.beginning_at(address_of(pointer));
    if (region == nullptr || region->kind != kind) {
      return kind == MemoryKind::host ? CUDA_ERROR_INVALID_VALUE
                                      : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    machine.memory.remove(region->span.begin);
    return CUDA_SUCCESS;
  });
}

CUresult mem_host_register(void* pointer, std::size_t size) {
  return in_current_context([&](Machine& machine, CUcontext current) {
    if (pointer == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    const Span span{address_of(pointer), Bytes{size}};
    return machine.memory.add_registered(span, home_of(current))
               ? CUDA_SUCCESS
               : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  });
}

CUresult find_region(const void* pointer, Region* found) {
  return with_machine([&](Machine& machine) {
    const Region* const region = machine.memory.containing(address_of(pointer));
    if (region == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *found = *region;
    return CUDA_SUCCESS;
  });
}

}  // namespace cairn::simulator
