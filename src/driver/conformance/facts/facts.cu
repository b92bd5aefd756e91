#include "facts.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace facts {
namespace {

class Finder {
 public:
  explicit Finder(PFN_cuGetProcAddress_v12000 get) : get_(get) {}

  template <class Function>
  void find(Function& call, const char* name, int version) {
    void* address = nullptr;
    get_(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr);
    call = reinterpret_cast<Function>(address);
    if (address == nullptr) missing_ = name;
  }
  template <class Function>
  void find_if_there(Function& call, const char* name, int version) {
    const char* missing = missing_;
    find(call, name, version);
    missing_ = missing;
  }
  const char* missing() const { return missing_; }

 private:
  PFN_cuGetProcAddress_v12000 get_;
  const char* missing_ = nullptr;
};

void find_devices_and_memory(Finder& finder, Api& api) {
  finder.find(api.init, "cuInit", 2000);
  finder.find(api.driver_get_version, "cuDriverGetVersion", 2020);
  finder.find(api.device_get_count, "cuDeviceGetCount", 2000);
  finder.find(api.device_get_name, "cuDeviceGetName", 2000);
  finder.find(api.primary_ctx_retain, "cuDevicePrimaryCtxRetain", 7000);
  finder.find(api.primary_ctx_reset, "cuDevicePrimaryCtxReset", 11000);
  finder.find(api.ctx_set_current, "cuCtxSetCurrent", 4000);
  finder.find(api.ctx_synchronize, "cuCtxSynchronize", 2000);
  finder.find(api.mem_alloc, "cuMemAlloc", 3020);
  finder.find(api.mem_free, "cuMemFree", 3020);
  finder.find(api.mem_get_info, "cuMemGetInfo", 3020);
  finder.find(api.get_error_name, "cuGetErrorName", 6000);
}

void find_events_and_streams(Finder& finder, Api& api) {
  finder.find(api.event_create, "cuEventCreate", 2000);
  finder.find(api.event_record, "cuEventRecord", 2000);
  finder.find(api.event_query, "cuEventQuery", 2000);
  finder.find(api.event_synchronize, "cuEventSynchronize", 2000);
  finder.find(api.event_destroy, "cuEventDestroy", 4000);
  finder.find(api.stream_create, "cuStreamCreate", 2000);
  finder.find(api.stream_destroy, "cuStreamDestroy", 4000);
  finder.find(api.stream_synchronize, "cuStreamSynchronize", 2000);
  finder.find(api.stream_get_ctx, "cuStreamGetCtx", 9020);
  finder.find(api.stream_get_id, "cuStreamGetId", 12000);
  finder.find(api.stream_begin_capture, "cuStreamBeginCapture", 10010);
  finder.find(api.stream_end_capture, "cuStreamEndCapture", 10000);
  finder.find(api.stream_is_capturing, "cuStreamIsCapturing", 10000);
  finder.find(api.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode", 10010);
  finder.find_if_there(api.ctx_record_event, "cuCtxRecordEvent", 12050);
}

}  // namespace

bool load(Api& api) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  void* get = dlsym(library, "cuGetProcAddress_v2");
  if (get == nullptr) return false;
  Finder finder(reinterpret_cast<PFN_cuGetProcAddress_v12000>(get));
  find_devices_and_memory(finder, api);
  find_events_and_streams(finder, api);
  if (finder.missing() != nullptr) {
    std::fprintf(stderr, "the CUDA driver has no %s\n", finder.missing());
  }
  return finder.missing() == nullptr;
}

Session open_session() {
  Session session;
  if (!load(session.api)) std::exit(1);
  must(session.api.init(0), "cuInit");
  must(session.api.primary_ctx_retain(&session.context, 0), "cuDevicePrimaryCtxRetain");
  must(session.api.ctx_set_current(session.context), "cuCtxSetCurrent");
  return session;
}

void must(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: %d\n", call, static_cast<int>(status));
  std::exit(1);
}

CUevent make_event(const Session& session) {
  CUevent event = nullptr;
  must(session.api.event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  return event;
}

CUstream make_stream(const Session& session) {
  CUstream stream = nullptr;
  must(session.api.stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  return stream;
}

std::string in_words(const Session& session, CUresult status) {
  const char* name = nullptr;
  session.api.get_error_name(status, &name);
  return std::string(name == nullptr ? "unrecognized" : name) + " (" +
         std::to_string(static_cast<int>(status)) + ")";
}

}  // namespace facts
