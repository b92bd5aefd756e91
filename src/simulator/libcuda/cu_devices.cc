// The calls of cuda.h for devices and contexts, by their own names.
#include <atomic>
#include <cstring>
#include <string_view>

#include "simulator/libcuda/attributes.h"
#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"
#include "simulator/not_simulated.h"

namespace sim = cairn::simulator;

namespace {

CUresult check_device(CUdevice device) {
  CUdevice found = 0;
  return sim::device_get(&found, device);
}

// CUDA_SUCCESS where none of the pointers is null.
template <class... Pointers>
CUresult check_given(Pointers... pointers) {
  return ((pointers == nullptr) || ...) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

CUresult cuInit(unsigned int flags) { return sim::init(flags); }

CUresult cuDriverGetVersion(int* version) {
  if (const CUresult bad = check_given(version)) return bad;
  return sim::driver_get_version(version);
}

CUresult cuDeviceGetCount(int* count) {
  if (const CUresult bad = check_given(count)) return bad;
  return sim::device_get_count(count);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (const CUresult bad = check_given(device)) return bad;
  return sim::device_get(device, ordinal);
}

CUresult cuDeviceGetName(char* name, int size, CUdevice device) {
  if (const CUresult bad = check_given(name)) return bad;
  if (const CUresult bad = check_device(device)) return bad;
  if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
  std::string_view{sim::device_name}.copy(name, static_cast<std::size_t>(size) - 1);
  name[std::min(std::strlen(sim::device_name), static_cast<std::size_t>(size) - 1)] = '\0';
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  if (const CUresult bad = check_given(bytes)) return bad;
  return sim::device_total_mem(bytes, device);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (const CUresult bad = check_given(value)) return bad;
  if (const CUresult bad = check_device(device)) return bad;
  if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX) return CUDA_ERROR_INVALID_VALUE;
  *value = sim::attribute_value(attribute, device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  if (const CUresult bad = check_given(minor)) return bad;
  *minor = 0;
  return cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  if (const CUresult bad = check_given(uuid)) return bad;
  if (const CUresult bad = check_device(device)) return bad;
  *uuid = {};
  std::memcpy(uuid->bytes, "cairn-sim", 9);
  uuid->bytes[15] = static_cast<char>(device);
  return CUDA_SUCCESS;
}

#undef cuDeviceGetUuid
CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice device) {
  if (const CUresult bad = check_given(text)) return bad;
  if (size <= 0) return CUDA_ERROR_INVALID_VALUE;
  return sim::device_get_pci_bus_id(text, size, device);
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* text) {
  if (const CUresult bad = check_given(device, text)) return bad;
  char known[16] = {};
  for (CUdevice each = 0; cuDeviceGetPCIBusId(known, sizeof known, each) == CUDA_SUCCESS; ++each) {
    if (std::string_view{known} != text) continue;
    *device = each;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  if (const CUresult bad = check_given(can)) return bad;
  if (const CUresult bad = check_device(device)) return bad;
  if (const CUresult bad = check_device(peer)) return bad;
  *can = device == peer ? 0 : 1;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (const CUresult bad = check_given(context)) return bad;
  return sim::primary_ctx_retain(context, device);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) { return sim::primary_ctx_release(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) { return sim::primary_ctx_reset(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int) {
  return check_device(device);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int* flags, int* active) {
  if (const CUresult bad = check_given(flags, active)) return bad;
  return sim::primary_ctx_get_state(device, flags, active);
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device) {
  if (const CUresult bad = check_given(context)) return bad;
  return sim::ctx_create(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) { return sim::ctx_destroy(context); }

CUresult cuCtxGetCurrent(CUcontext* context) {
  if (const CUresult bad = check_given(context)) return bad;
  return sim::ctx_get_current(context);
}

CUresult cuCtxSetCurrent(CUcontext context) { return sim::ctx_set_current(context); }

CUresult cuCtxPushCurrent_v2(CUcontext context) { return sim::ctx_push_current(context); }

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  CUcontext popped = nullptr;
  return sim::ctx_pop_current(context == nullptr ? &popped : context);
}

CUresult cuCtxGetDevice(CUdevice* device) {
  if (const CUresult bad = check_given(device)) return bad;
  return sim::ctx_get_device(device);
}

CUresult cuCtxSynchronize() { return sim::ctx_synchronize(); }

CUresult cuCtxGetApiVersion(CUcontext, unsigned int* version) {
  if (const CUresult bad = check_given(version)) return bad;
  *version = static_cast<unsigned int>(sim::cuda_version());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = sim::greatest_priority;
  return CUDA_SUCCESS;
}

CUresult cuCtxEnablePeerAccess(CUcontext context, unsigned int flags) {
  return context == nullptr || flags != 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxDisablePeerAccess(CUcontext context) {
  return context == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetExportTable(const void**, const CUuuid*) {
  static std::atomic_flag was_said;
  sim::not_simulated(
      "cuGetExportTable, which a CUDA runtime that is linked statically asks for "
      "(link with: nvcc -cudart shared),",
      was_said);
  return CUDA_ERROR_NOT_SUPPORTED;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
