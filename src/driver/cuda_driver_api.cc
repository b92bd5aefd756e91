#include "driver/cuda_driver_api.h"

#include <dlfcn.h>

#include <string>

#include "driver/cuda_status.h"

namespace cairn {
namespace {

constexpr const char* library_name = "libcuda.so.1";
constexpr int oldest_version = 12000;

Failure<Error> unsupported(std::string message) {
  return Failure{Error{ErrorCode::unsupported, 0, std::move(message), nullptr}};
}

// "12.4" for 12040.
std::string version_in_words(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

template <class Function>
Function find_symbol(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

// Asks cuGetProcAddress, never dlsym: the plain name of a call is that of its oldest ABI.
class Finder {
 public:
  explicit Finder(void* library)
      : get_(find_symbol<PFN_cuGetProcAddress_v12000>(library, "cuGetProcAddress_v2")),
        get_before_12_(find_symbol<PFN_cuGetProcAddress_v11030>(library, "cuGetProcAddress")) {}

  // Gives null to `call` where the library has no `name` of that version.
  template <class Function>
  void find(Function& call, const char* name, int version) {
    call = reinterpret_cast<Function>(address_of(name, version));
  }
  template <class Function>
  void require(Function& call, const char* name, int version) {
    find(call, name, version);
    if (call == nullptr && first_missing_.empty()) {
      first_missing_ = std::string(name) + " (as of CUDA " + version_in_words(version) + ")";
    }
  }
  // The first that was required and is not there; empty where all are.
  const std::string& first_missing() const { return first_missing_; }

 private:
  void* address_of(const char* name, int version) const {
    void* address = nullptr;
    CUresult status = CUDA_ERROR_NOT_SUPPORTED;
    if (get_ != nullptr) {
      status = get_(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr);
    } else if (get_before_12_ != nullptr) {
      status = get_before_12_(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    }
    return status == CUDA_SUCCESS ? address : nullptr;
  }

  PFN_cuGetProcAddress_v12000 get_;
  PFN_cuGetProcAddress_v11030 get_before_12_;
  std::string first_missing_;
};

// 0 where the library does not say.
int driver_version(Finder& finder) {
  PFN_cuDriverGetVersion_v2020 get_version = nullptr;
  finder.find(get_version, "cuDriverGetVersion", 2020);
  int version = 0;
  if (get_version == nullptr || get_version(&version) != CUDA_SUCCESS) return 0;
  return version;
}

void find_devices_and_contexts(Finder& finder, CudaApi& api) {
  finder.require(api.init, "cuInit", 2000);
  finder.require(api.device_get_count, "cuDeviceGetCount", 2000);
  finder.require(api.device_get, "cuDeviceGet", 2000);
  finder.require(api.device_total_mem, "cuDeviceTotalMem", 3020);
  finder.require(api.device_get_pci_bus_id, "cuDeviceGetPCIBusId", 4010);
  finder.require(api.primary_ctx_retain, "cuDevicePrimaryCtxRetain", 7000);
  finder.require(api.primary_ctx_release, "cuDevicePrimaryCtxRelease", 11000);
  finder.require(api.ctx_get_current, "cuCtxGetCurrent", 4000);
  finder.require(api.ctx_push_current, "cuCtxPushCurrent", 4000);
  finder.require(api.ctx_pop_current, "cuCtxPopCurrent", 4000);
  finder.require(api.ctx_synchronize, "cuCtxSynchronize", 2000);
}

void find_memory_events_and_streams(Finder& finder, CudaApi& api) {
  finder.require(api.mem_alloc, "cuMemAlloc", 3020);
  finder.require(api.mem_free, "cuMemFree", 3020);
  finder.require(api.mem_get_info, "cuMemGetInfo", 3020);
  finder.require(api.event_create, "cuEventCreate", 2000);
  finder.require(api.event_record, "cuEventRecord", 2000);
  finder.require(api.event_query, "cuEventQuery", 2000);
  finder.require(api.event_synchronize, "cuEventSynchronize", 2000);
  finder.require(api.event_destroy, "cuEventDestroy", 4000);
  finder.require(api.stream_synchronize, "cuStreamSynchronize", 2000);
  finder.require(api.stream_get_ctx, "cuStreamGetCtx", 9020);
  finder.require(api.stream_get_id, "cuStreamGetId", 12000);
  finder.find(api.ctx_record_event, "cuCtxRecordEvent", 12050);
}

}  // namespace

Result<CudaApi, Error> load_cuda_api() {
  // Never closed: the driver has threads of its own, which outlive its last caller.
  void* library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return unsupported("The CUDA driver library could not be loaded: " +
                       std::string(why != nullptr ? why : library_name) +
                       "; is an NVIDIA driver installed?");
  }
  Finder finder(library);
  const int version = driver_version(finder);
  if (version == 0) {
    return unsupported("The CUDA driver library " + std::string(library_name) +
                       " does not say its version: it is a stub, or older than CUDA 11.3; Cairn "
                       "needs a driver for CUDA " +
                       version_in_words(oldest_version) + " or later");
  }
  if (version < oldest_version) {
    return unsupported("The CUDA driver is too old: it is for CUDA " + version_in_words(version) +
                       ", and Cairn needs one for CUDA " + version_in_words(oldest_version) +
                       " or later");
  }
  CudaApi api;
  find_devices_and_contexts(finder, api);
  find_memory_events_and_streams(finder, api);
  if (!finder.first_missing().empty()) {
    return unsupported("The CUDA driver, which is for CUDA " + version_in_words(version) +
                       ", lacks the call " + finder.first_missing());
  }
  return api;
}

}  // namespace cairn
