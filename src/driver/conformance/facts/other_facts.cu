// Wrong handles, wrong devices, a device that was reset, the runtime's slot for the last error, and
// calls without a current context.
#include <cuda_runtime.h>

#include "facts.h"

namespace facts {
namespace {

void tell(const Session& session, const char* call, CUresult status) {
  facts::tell({call, "", "", in_words(session, status), ""});
}

void find_memory_facts() {
  const Session session = open_session();
  const Api& api = session.api;
  CUdeviceptr memory = 0;
  must(api.mem_alloc(&memory, std::size_t{4} << 20), "cuMemAlloc");
  tell(session, "cuMemFree of an address inside a block", api.mem_free(memory + 512));
  tell(session, "cuMemFree of a block", api.mem_free(memory));
  tell(session, "cuMemFree of it again", api.mem_free(memory));
  tell(session, "cuMemFree of 0", api.mem_free(0));
  tell(session, "cuMemAlloc of 0 bytes", api.mem_alloc(&memory, 0));
  tell(session, "cuMemAlloc of 2^60 bytes", api.mem_alloc(&memory, std::size_t{1} << 60));
}

void tell_last_error(const char* after, cudaError_t returned) {
  const cudaError_t slot = cudaPeekAtLastError();
  facts::tell({after, "", "",
               std::string(cudaGetErrorName(returned)) + " (" + std::to_string(returned) + ")",
               "cudaPeekAtLastError: " + std::string(cudaGetErrorName(slot)) + " (" +
                   std::to_string(slot) + ")"});
  cudaGetLastError();
}

void find_last_error_facts() {
  const Session session = open_session();
  void* memory = nullptr;
  tell_last_error("cudaMalloc of 2^60 bytes", cudaMalloc(&memory, std::size_t{1} << 60));
  CUdeviceptr address = 0;
  const CUresult status = session.api.mem_alloc(&address, std::size_t{1} << 60);
  tell_last_error("cuMemAlloc of 2^60 bytes", static_cast<cudaError_t>(status));
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  must(static_cast<CUresult>(cudaStreamCreate(&stream)), "cudaStreamCreate");
  must(static_cast<CUresult>(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)),
       "cudaEventCreateWithFlags");
  must(static_cast<CUresult>(cudaLaunchHostFunc(
           stream, [](void*) {}, nullptr)),
       "cudaLaunchHostFunc");
  must(static_cast<CUresult>(cudaEventRecord(event, stream)), "cudaEventRecord");
  cudaError_t answer = cudaEventQuery(event);
  for (int tries = 0; answer == cudaErrorNotReady && tries < 3; ++tries) {
    tell_last_error("cudaEventQuery", answer);
    answer = cudaEventQuery(event);
  }
  tell_last_error("cudaEventQuery", answer);
}

void find_context_facts() {
  const Session session = open_session();
  const Api& api = session.api;
  const CUstream stream = make_stream(session);
  const CUevent event = make_event(session);
  must(api.ctx_set_current(nullptr), "cuCtxSetCurrent");
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  CUcontext context = nullptr;
  unsigned long long id = 0;
  tell(session, "without a current context: cuMemGetInfo",
       api.mem_get_info(&free_bytes, &total_bytes));
  tell(session, "without a current context: cuEventRecord on a stream",
       api.event_record(event, stream));
  tell(session, "without a current context: cuEventRecord on the legacy stream",
       api.event_record(event, CU_STREAM_LEGACY));
  tell(session, "without a current context: cuEventQuery", api.event_query(event));
  tell(session, "without a current context: cuEventSynchronize", api.event_synchronize(event));
  tell(session, "without a current context: cuStreamSynchronize", api.stream_synchronize(stream));
  tell(session, "without a current context: cuStreamGetCtx", api.stream_get_ctx(stream, &context));
  tell(session, "without a current context: cuStreamGetId", api.stream_get_id(stream, &id));
  tell(session, "without a current context: cuEventDestroy", api.event_destroy(event));
}

void find_two_device_facts() {
  const Session session = open_session();
  const Api& api = session.api;
  int devices = 0;
  must(api.device_get_count(&devices), "cuDeviceGetCount");
  if (devices < 2) {
    facts::tell({"cuEventRecord on a stream of another device", "", "", "one device here", ""});
    return;
  }
  const CUevent event = make_event(session);
  CUcontext second = nullptr;
  must(api.primary_ctx_retain(&second, 1), "cuDevicePrimaryCtxRetain");
  must(api.ctx_set_current(second), "cuCtxSetCurrent");
  const CUstream stream = make_stream(session);
  tell(session, "cuEventRecord on a stream of another device", api.event_record(event, stream));
  tell(session, "cuEventQuery of an event of another device", api.event_query(event));
  CUdeviceptr memory = 0;
  must(api.mem_alloc(&memory, std::size_t{4} << 20), "cuMemAlloc");
  must(api.ctx_set_current(session.context), "cuCtxSetCurrent");
  tell(session, "cuMemFree of another device's memory", api.mem_free(memory));
}

void find_reset_facts() {
  const Session session = open_session();
  const Api& api = session.api;
  const CUevent event = make_event(session);
  must(api.primary_ctx_reset(0), "cuDevicePrimaryCtxReset");
  tell(session, "cuEventQuery after a reset of the device", api.event_query(event));
}

// Each may end the process.
void find_dead_event_query() {
  const Session session = open_session();
  const CUevent event = make_event(session);
  must(session.api.event_destroy(event), "cuEventDestroy");
  tell(session, "cuEventQuery of an event that was destroyed", session.api.event_query(event));
}

template <class Ask>
void ask_of_a_dead_stream(const char* call, Ask&& ask) {
  const Session session = open_session();
  const CUstream stream = make_stream(session);
  must(session.api.stream_destroy(stream), "cuStreamDestroy");
  tell(session, call, ask(session, stream));
}

void find_dead_stream_record() {
  ask_of_a_dead_stream("cuEventRecord on a stream that was destroyed",
                       [](const Session& session, CUstream stream) {
                         return session.api.event_record(make_event(session), stream);
                       });
}

void find_dead_stream_sync() {
  ask_of_a_dead_stream("cuStreamSynchronize of a stream that was destroyed",
                       [](const Session& session, CUstream stream) {
                         return session.api.stream_synchronize(stream);
                       });
}

void find_dead_stream_ctx() {
  ask_of_a_dead_stream("cuStreamGetCtx of a stream that was destroyed",
                       [](const Session& session, CUstream stream) {
                         CUcontext context = nullptr;
                         return session.api.stream_get_ctx(stream, &context);
                       });
}

void find_dead_stream_id() {
  ask_of_a_dead_stream("cuStreamGetId of a stream that was destroyed",
                       [](const Session& session, CUstream stream) {
                         unsigned long long id = 0;
                         return session.api.stream_get_id(stream, &id);
                       });
}

}  // namespace

std::vector<Group> other_groups() {
  return {
      {"memory", find_memory_facts},
      {"the last error of the runtime", find_last_error_facts},
      {"no current context", find_context_facts},
      {"two devices", find_two_device_facts},
      {"a reset", find_reset_facts},
      {"query of a dead event", find_dead_event_query},
      {"record on a dead stream", find_dead_stream_record},
      {"synchronize of a dead stream", find_dead_stream_sync},
      {"context of a dead stream", find_dead_stream_ctx},
      {"id of a dead stream", find_dead_stream_id},
  };
}

}  // namespace facts
