// What a real GPU's driver answers where CUDA's documentation leaves it open. Each group of facts
// is found in a process of its own, since some of the questions break a context, or the process.
#pragma once

#include <cudaTypedefs.h>

#include <string>
#include <vector>

namespace facts {

// A call, how it was made, and what came of it. Empty where a column means nothing.
struct Fact {
  std::string call;
  std::string capture_mode;  // Of a capture that was under way on another stream or on this one.
  std::string caller;        // The thread that called, as seen from the one that began the capture.
  std::string code;          // "out_of_memory (2)".
  std::string afterwards;
};

// The driver's calls, in the versions that stand in their types.
struct Api {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuDriverGetVersion_v2020 driver_get_version = nullptr;
  PFN_cuDeviceGetCount_v2000 device_get_count = nullptr;
  PFN_cuDeviceGetName_v2000 device_get_name = nullptr;
  PFN_cuDevicePrimaryCtxRetain_v7000 primary_ctx_retain = nullptr;
  PFN_cuDevicePrimaryCtxReset_v11000 primary_ctx_reset = nullptr;
  PFN_cuCtxSetCurrent_v4000 ctx_set_current = nullptr;
  PFN_cuCtxSynchronize_v2000 ctx_synchronize = nullptr;
  PFN_cuMemAlloc_v3020 mem_alloc = nullptr;
  PFN_cuMemFree_v3020 mem_free = nullptr;
  PFN_cuMemGetInfo_v3020 mem_get_info = nullptr;
  PFN_cuEventCreate_v2000 event_create = nullptr;
  PFN_cuEventRecord_v2000 event_record = nullptr;
  PFN_cuEventQuery_v2000 event_query = nullptr;
  PFN_cuEventSynchronize_v2000 event_synchronize = nullptr;
  PFN_cuEventDestroy_v4000 event_destroy = nullptr;
  PFN_cuStreamCreate_v2000 stream_create = nullptr;
  PFN_cuStreamDestroy_v4000 stream_destroy = nullptr;
  PFN_cuStreamSynchronize_v2000 stream_synchronize = nullptr;
  PFN_cuStreamGetCtx_v9020 stream_get_ctx = nullptr;
  PFN_cuStreamGetId_v12000 stream_get_id = nullptr;
  PFN_cuStreamBeginCapture_v10010 stream_begin_capture = nullptr;
  PFN_cuStreamEndCapture_v10000 stream_end_capture = nullptr;
  PFN_cuStreamIsCapturing_v10000 stream_is_capturing = nullptr;
  PFN_cuThreadExchangeStreamCaptureMode_v10010 exchange_capture_mode = nullptr;
  PFN_cuGetErrorName_v6000 get_error_name = nullptr;
  CUresult (*ctx_record_event)(CUcontext, CUevent) = nullptr;  // Null before CUDA 12.5.
};

// False where there is no libcuda.so.1 of CUDA 12 or later.
bool load(Api& api);

// A process's own use of device 0, whose primary context is current.
struct Session {
  Api api;
  CUcontext context = nullptr;
};
// Where one of these fails the process ends, and the group of facts with it.
Session open_session();
void must(CUresult status, const char* call);
CUevent make_event(const Session& session);
CUstream make_stream(const Session& session);

std::string in_words(const Session& session, CUresult status);
// Writes it to where the parent process reads.
void tell(const Fact& fact);

// A group of facts; runs in a child process.
struct Group {
  const char* name;
  void (*find)();
};
std::vector<Group> capture_groups();
std::vector<Group> other_groups();

}  // namespace facts
