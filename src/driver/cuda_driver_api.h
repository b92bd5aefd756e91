// The entry points of the CUDA driver library that Cairn calls. Each is of the version of its ABI
// that stands in its type; a newer library gives that same version. For cuda_driver*.cc alone,
// which are the only files of the library that see CUDA's headers.
#pragma once

#include <cudaTypedefs.h>

#include "base/result.h"
#include "cairn/errors.h"

namespace cairn {

struct CudaApi {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuDeviceGetCount_v2000 device_get_count = nullptr;
  PFN_cuDeviceGet_v2000 device_get = nullptr;
  PFN_cuDeviceTotalMem_v3020 device_total_mem = nullptr;
  PFN_cuDeviceGetPCIBusId_v4010 device_get_pci_bus_id = nullptr;
  PFN_cuDevicePrimaryCtxRetain_v7000 primary_ctx_retain = nullptr;
  PFN_cuDevicePrimaryCtxRelease_v11000 primary_ctx_release = nullptr;
  PFN_cuCtxGetCurrent_v4000 ctx_get_current = nullptr;
  PFN_cuCtxPushCurrent_v4000 ctx_push_current = nullptr;
  PFN_cuCtxPopCurrent_v4000 ctx_pop_current = nullptr;
  PFN_cuCtxSynchronize_v2000 ctx_synchronize = nullptr;
  PFN_cuMemAlloc_v3020 mem_alloc = nullptr;
  PFN_cuMemFree_v3020 mem_free = nullptr;
  PFN_cuMemGetInfo_v3020 mem_get_info = nullptr;
  PFN_cuEventCreate_v2000 event_create = nullptr;
  PFN_cuEventRecord_v2000 event_record = nullptr;
  PFN_cuEventQuery_v2000 event_query = nullptr;
  PFN_cuEventSynchronize_v2000 event_synchronize = nullptr;
  PFN_cuEventDestroy_v4000 event_destroy = nullptr;
  PFN_cuStreamSynchronize_v2000 stream_synchronize = nullptr;
  PFN_cuStreamGetCtx_v9020 stream_get_ctx = nullptr;
  PFN_cuStreamGetId_v12000 stream_get_id = nullptr;
  // cuCtxRecordEvent of CUDA 12.5, which toolkits before that do not declare. Null where the driver
  // is older.
  CUresult(CUDAAPI* ctx_record_event)(CUcontext, CUevent) = nullptr;
};

// Loads libcuda.so.1, which then stays, and finds the entry points in it. Unsupported, with the
// reason, where there is no such library, where it is older than CUDA 12.0, and where it lacks a
// call.
Result<CudaApi, Error> load_cuda_api();

}  // namespace cairn
