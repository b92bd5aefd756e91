// The calls of cuda.h for streams, events, modules and kernels, by their own names. A kernel takes
// CAIRN_SIM_KERNEL_TICKS and does nothing; a module holds whatever is asked of it.
#include "simulator/libcuda/entry_points.h"
#include "simulator/libcuda/environment.h"
#include "simulator/libcuda/machine.h"

namespace sim = cairn::simulator;

namespace {

// What modules and functions are: handles that nobody looks behind.
template <class Handle>
Handle some_handle() {
  static int object = 0;
  return reinterpret_cast<Handle>(&object);
}

CUresult launch(CUstream stream) {
  return sim::on_stream(stream, [](sim::Machine& machine, cairn::StreamRef named) {
    const bool is_launched{machine.gpu.launch(named, {}, sim::kernel_ticks())};
    return is_launched ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

// What `fact` says of the stream.
template <class Value, class Fact>
CUresult give(Value* value, CUstream stream, Fact fact) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  sim::StreamFacts facts;
  const CUresult found = sim::stream_facts(stream, &facts);
  if (found == CUDA_SUCCESS) *value = fact(facts);
  return found;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming,readability-function-size)
extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned int flags) {
  return sim::stream_create(stream, flags);
}
CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned int flags, int priority) {
  return sim::stream_create_with_priority(stream, flags, priority);
}
CUresult cuStreamDestroy_v2(CUstream stream) { return sim::stream_destroy(stream); }
CUresult cuStreamSynchronize(CUstream stream) { return sim::stream_synchronize(stream); }
CUresult cuStreamQuery(CUstream stream) { return sim::stream_query(stream); }
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
  return sim::stream_wait_event(stream, event, flags);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return context == nullptr ? CUDA_ERROR_INVALID_VALUE : sim::stream_get_ctx(stream, context);
}
CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return id == nullptr ? CUDA_ERROR_INVALID_VALUE : sim::stream_get_id(stream, id);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int* flags) {
  return give(flags, stream, [](const sim::StreamFacts& facts) { return facts.flags; });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return give(priority, stream, [](const sim::StreamFacts& facts) { return facts.priority; });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return give(device, stream, [](const sim::StreamFacts& facts) { return facts.device; });
}

// Nothing is captured here.
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return give(status, stream,
              [](const sim::StreamFacts&) { return CU_STREAM_CAPTURE_STATUS_NONE; });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
  if (mode == nullptr || *mode < 0 || *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::swap(current, *mode);
  return CUDA_SUCCESS;
}

// All work before it is as good as done, so it is called at once, by the calling thread.
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult launched = launch(stream);
  if (launched == CUDA_SUCCESS) function(data);
  return launched;
}

CUresult cuEventCreate(CUevent* event, unsigned int flags) {
  return sim::event_create(event, flags);
}
CUresult cuEventRecord(CUevent event, CUstream stream) { return sim::event_record(event, stream); }
CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int) {
  return sim::event_record(event, stream);
}
CUresult cuEventQuery(CUevent event) { return sim::event_query(event); }
CUresult cuEventSynchronize(CUevent event) { return sim::event_synchronize(event); }
CUresult cuEventDestroy_v2(CUevent event) { return sim::event_destroy(event); }
#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return sim::event_elapsed_time(milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return sim::event_elapsed_time(milliseconds, start, end);
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *module = some_handle<CUmodule>();
  return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int, CUjit_option*,
                            void**) {
  return cuModuleLoadData(module, image);
}
CUresult cuModuleLoad(CUmodule* module, const char* name) { return cuModuleLoadData(module, name); }
CUresult cuModuleUnload(CUmodule module) {
  return module == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *function = some_handle<CUfunction>();
  return CUDA_SUCCESS;
}
CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute, int) {
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache) {
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *value = attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 1024 : 0;
  return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int, std::size_t) {
  if (blocks == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *blocks = 1;
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int, unsigned int, unsigned int, unsigned int,
                        unsigned int, unsigned int, unsigned int, CUstream stream, void**, void**) {
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : launch(stream);
}
CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int, unsigned int, unsigned int,
                                   unsigned int, unsigned int, unsigned int, unsigned int,
                                   CUstream stream, void**) {
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : launch(stream);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void**, void**) {
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : launch(config->hStream);
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,readability-function-size)
