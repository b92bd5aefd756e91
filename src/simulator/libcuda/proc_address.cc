// cuGetProcAddress. It knows the calls that Cairn makes in one version of their ABI each, and gives
// them for no other; and all that the library exports.
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <string>
#include <string_view>
#include <vector>

#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"

namespace cairn::simulator {
namespace {

constexpr int for_good = 1 << 30;

// A call whose ABI is that of `since` up to, and without, `until`.
struct EntryPoint {
  std::string_view name;
  int since;
  int until;
  void* address;
};

template <class Function>
EntryPoint entry(std::string_view name, int since, Function call, int until = for_good) {
  return {name, since, until, reinterpret_cast<void*>(call)};
}

std::vector<EntryPoint> devices_and_contexts() {
  return {
      entry<PFN_cuInit_v2000>("cuInit", 2000, init),
      entry<PFN_cuDriverGetVersion_v2020>("cuDriverGetVersion", 2020, driver_get_version),
      entry<PFN_cuDeviceGetCount_v2000>("cuDeviceGetCount", 2000, device_get_count),
      entry<PFN_cuDeviceGet_v2000>("cuDeviceGet", 2000, device_get),
      entry<PFN_cuDeviceTotalMem_v3020>("cuDeviceTotalMem", 3020, device_total_mem),
      entry<PFN_cuDeviceGetPCIBusId_v4010>("cuDeviceGetPCIBusId", 4010, device_get_pci_bus_id),
      entry<PFN_cuDevicePrimaryCtxRetain_v7000>("cuDevicePrimaryCtxRetain", 7000,
                                                primary_ctx_retain),
      entry<PFN_cuDevicePrimaryCtxRelease_v11000>("cuDevicePrimaryCtxRelease", 11000,
                                                  primary_ctx_release),
      entry<PFN_cuDevicePrimaryCtxReset_v11000>("cuDevicePrimaryCtxReset", 11000,
                                                primary_ctx_reset),
      entry<PFN_cuDevicePrimaryCtxGetState_v7000>("cuDevicePrimaryCtxGetState", 7000,
                                                  primary_ctx_get_state),
      entry<PFN_cuCtxCreate_v3020>("cuCtxCreate", 3020, ctx_create, 11040),
      entry<PFN_cuCtxDestroy_v4000>("cuCtxDestroy", 4000, ctx_destroy),
      entry<PFN_cuCtxGetCurrent_v4000>("cuCtxGetCurrent", 4000, ctx_get_current),
      entry<PFN_cuCtxGetDevice_v2000>("cuCtxGetDevice", 2000, ctx_get_device, 13000),
      entry<PFN_cuCtxPushCurrent_v4000>("cuCtxPushCurrent", 4000, ctx_push_current),
      entry<PFN_cuCtxPopCurrent_v4000>("cuCtxPopCurrent", 4000, ctx_pop_current),
      entry<PFN_cuCtxSynchronize_v2000>("cuCtxSynchronize", 2000, ctx_synchronize, 13000),
  };
}

std::vector<EntryPoint> memory_events_and_streams() {
  return {
      entry<PFN_cuMemAlloc_v3020>("cuMemAlloc", 3020, mem_alloc),
      entry<PFN_cuMemFree_v3020>("cuMemFree", 3020, mem_free),
      entry<PFN_cuMemGetInfo_v3020>("cuMemGetInfo", 3020, mem_get_info),
      entry<PFN_cuEventCreate_v2000>("cuEventCreate", 2000, event_create),
      entry<PFN_cuEventRecord_v2000>("cuEventRecord", 2000, event_record),
      entry<PFN_cuEventQuery_v2000>("cuEventQuery", 2000, event_query),
      entry<PFN_cuEventSynchronize_v2000>("cuEventSynchronize", 2000, event_synchronize),
      entry<PFN_cuEventDestroy_v4000>("cuEventDestroy", 4000, event_destroy),
      entry("cuCtxRecordEvent", 12050, ctx_record_event),
      entry<PFN_cuStreamCreate_v2000>("cuStreamCreate", 2000, stream_create),
      entry<PFN_cuStreamDestroy_v4000>("cuStreamDestroy", 4000, stream_destroy),
      entry<PFN_cuStreamSynchronize_v2000>("cuStreamSynchronize", 2000, stream_synchronize),
      entry<PFN_cuStreamGetCtx_v9020>("cuStreamGetCtx", 9020, stream_get_ctx, 12050),
      entry<PFN_cuStreamGetId_v12000>("cuStreamGetId", 12000, stream_get_id),
  };
}

const std::vector<EntryPoint>& entry_points() {
  static const std::vector<EntryPoint> all = [] {
    std::vector<EntryPoint> entries = devices_and_contexts();
    const std::vector<EntryPoint> more = memory_events_and_streams();
    entries.insert(entries.end(), more.begin(), more.end());
    return entries;
  }();
  return all;
}

struct Found {
  void* address = nullptr;
  CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
};

// A call that the table does not tell of has one version here: the one that cuda.h gives its name.
Found find_exported(const std::string& name) {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&cuGetProcAddress_v2), &self) == 0) return {};
  void* const library = dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) return {};
  void* address = dlsym(library, (name + "_v2").c_str());
  if (address == nullptr) address = dlsym(library, name.c_str());
  dlclose(library);
  if (address == nullptr) return {};
  return {address, CU_GET_PROC_ADDRESS_SUCCESS};
}

Found find(const char* name, int version) {
  if (is_missing(name)) return {};
  bool is_in_table = false;
  for (const EntryPoint& entry : entry_points()) {
    if (entry.name != name) continue;
    is_in_table = true;
    if (version < entry.since) return {nullptr, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT};
    if (version < entry.until) return {entry.address, CU_GET_PROC_ADDRESS_SUCCESS};
  }
  return is_in_table ? Found{} : find_exported(name);
}

}  // namespace
}  // namespace cairn::simulator

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

CUresult cuGetProcAddress_v2(const char* name, void** address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* how) {
  if (name == nullptr || address == nullptr || version > cairn::simulator::cuda_version()) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Nothing here knows the variants whose default stream is the thread's.
  if (flags != CU_GET_PROC_ADDRESS_LEGACY_STREAM && flags != CU_GET_PROC_ADDRESS_DEFAULT) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto found = cairn::simulator::find(name, version);
  *address = found.address;
  if (how != nullptr) *how = found.how;
  return CUDA_SUCCESS;
}

// As it was before CUDA 12; cuda.h takes its name for the later one.
#undef cuGetProcAddress
CUresult cuGetProcAddress(const char* name, void** address, int version, cuuint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, nullptr);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
