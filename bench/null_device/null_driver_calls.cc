// The calls of libcuda.so.1 that Cairn makes, found as it finds them: by cuGetProcAddress.
#include <cuda.h>

#include <array>
#include <cstdio>
#include <string_view>

#include "bench/null_device/null_device.h"

namespace cairn::bench {
namespace {

CUcontext primary() {
  static char place;
  return reinterpret_cast<CUcontext>(&place);
}
CUresult done(NullCall call) {
  count(call);
  return CUDA_SUCCESS;
}

CUresult init(unsigned) { return done(NullCall::other); }
CUresult get_version(int* version) {
  *version = 13'000;
  return done(NullCall::other);
}
CUresult device_count(int* devices) {
  *devices = 1;
  return done(NullCall::other);
}
CUresult device_get(CUdevice* device, int) {
  *device = 0;
  return done(NullCall::other);
}
CUresult total_memory(std::size_t* bytes, CUdevice) {
  *bytes = null_memory_bytes;
  return done(NullCall::other);
}
CUresult bus_id(char* text, int size, CUdevice) {
  std::snprintf(text, static_cast<std::size_t>(size), "0000:00:00.0");
  return done(NullCall::other);
}
CUresult retain(CUcontext* context, CUdevice) {
  *context = primary();
  return done(NullCall::context);
}
CUresult release(CUdevice) { return done(NullCall::context); }
// Whoever uses the runtime has the primary context as the current one.
CUresult current(CUcontext* context) {
  *context = primary();
  return done(NullCall::context);
}
CUresult push(CUcontext) { return done(NullCall::context); }
CUresult context_of_stream(CUstream, CUcontext* context) {
  *context = primary();
  return done(NullCall::context);
}
CUresult id_of_stream(CUstream stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return done(NullCall::other);
}

CUresult allocate(CUdeviceptr* address, std::size_t size_bytes) {
  *address = cairn_null_device_malloc(size_bytes);
  count(NullCall::malloc);
  return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}
CUresult give_back(CUdeviceptr address) {
  count(NullCall::free);
  return cairn_null_device_free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = null_memory_bytes - cairn_null_device_held();
  *total_bytes = null_memory_bytes;
  return done(NullCall::other);
}

CUresult event_create(CUevent* event, unsigned) {
  static std::uintptr_t last = 0;
  *event = reinterpret_cast<CUevent>(++last);
  return done(NullCall::event_create);
}
CUresult event_record(CUevent, CUstream) { return done(NullCall::event_record); }
CUresult record_all(CUcontext, CUevent) { return done(NullCall::event_record); }
CUresult event_query(CUevent) { return done(NullCall::event_query); }
CUresult event_destroy(CUevent) { return done(NullCall::event_destroy); }
CUresult wait_for_event(CUevent) { return done(NullCall::wait); }
CUresult wait_for_stream(CUstream) { return done(NullCall::wait); }
CUresult wait_for_all() { return done(NullCall::wait); }

struct Entry {
  std::string_view name;
  void* address;
};
template <class Function>
Entry entry(std::string_view name, Function* function) {
  return {name, reinterpret_cast<void*>(function)};
}

const std::array entries{
    entry("cuInit", init),
    entry("cuDriverGetVersion", get_version),
    entry("cuDeviceGetCount", device_count),
    entry("cuDeviceGet", device_get),
    entry("cuDeviceTotalMem", total_memory),
    entry("cuDeviceGetPCIBusId", bus_id),
    entry("cuDevicePrimaryCtxRetain", retain),
    entry("cuDevicePrimaryCtxRelease", release),
    entry("cuCtxGetCurrent", current),
    entry("cuCtxPushCurrent", push),
    entry("cuCtxPopCurrent", current),
    entry("cuCtxSynchronize", wait_for_all),
    entry("cuCtxRecordEvent", record_all),
    entry("cuMemAlloc", allocate),
    entry("cuMemFree", give_back),
    entry("cuMemGetInfo", memory_info),
    entry("cuEventCreate", event_create),
    entry("cuEventRecord", event_record),
    entry("cuEventQuery", event_query),
    entry("cuEventSynchronize", wait_for_event),
    entry("cuEventDestroy", event_destroy),
    entry("cuStreamSynchronize", wait_for_stream),
    entry("cuStreamGetCtx", context_of_stream),
    entry("cuStreamGetId", id_of_stream),
};

}  // namespace
}  // namespace cairn::bench

// A macro of cuda.h makes it cuGetProcAddress_v2.
CUresult cuGetProcAddress(const char* name, void** address, int, cuuint64_t,
                          CUdriverProcAddressQueryResult*) {
  *address = nullptr;
  for (const auto& entry : cairn::bench::entries) {
    if (entry.name == name) *address = entry.address;
  }
  return *address == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
