// Calls that are made while a stream is being captured: what they answer, and whether the capture
// outlives them.
#include <functional>
#include <thread>

#include "facts.h"

namespace facts {
namespace {

// What a call may need: all of it is made before the capture begins.
struct Things {
  CUstream capturing = nullptr;
  CUstream other = nullptr;
  CUevent recorded = nullptr;  // On the other stream.
  CUevent captured = nullptr;  // On the capturing stream, in the capture.
  CUevent spare = nullptr;
  CUdeviceptr memory = 0;
};

struct Call {
  const char* name;
  CUresult (*make)(const Session& session, Things& things);
};

const Call calls[] = {
    {"cuMemAlloc",
     [](const Session& session, Things&) {
       CUdeviceptr address = 0;
       return session.api.mem_alloc(&address, std::size_t{1} << 20);
     }},
    {"cuMemFree",
     [](const Session& session, Things& things) { return session.api.mem_free(things.memory); }},
    {"cuMemGetInfo",
     [](const Session& session, Things&) {
       std::size_t free_bytes = 0;
       std::size_t total_bytes = 0;
       return session.api.mem_get_info(&free_bytes, &total_bytes);
     }},
    {"cuEventCreate",
     [](const Session& session, Things&) {
       CUevent event = nullptr;
       return session.api.event_create(&event, CU_EVENT_DISABLE_TIMING);
     }},
    {"cuEventDestroy", [](const Session& session,
                          Things& things) { return session.api.event_destroy(things.spare); }},
    {"cuEventQuery of an event of another stream",
     [](const Session& session, Things& things) {
       return session.api.event_query(things.recorded);
     }},
    {"cuEventQuery of an event of the capture",
     [](const Session& session, Things& things) {
       return session.api.event_query(things.captured);
     }},
    {"cuEventSynchronize of an event of another stream",
     [](const Session& session, Things& things) {
       return session.api.event_synchronize(things.recorded);
     }},
    {"cuEventRecord on another stream",
     [](const Session& session, Things& things) {
       return session.api.event_record(things.spare, things.other);
     }},
    {"cuEventRecord on the stream of the capture",
     [](const Session& session, Things& things) {
       return session.api.event_record(things.spare, things.capturing);
     }},
    {"cuEventRecord on the legacy stream",
     [](const Session& session, Things& things) {
       return session.api.event_record(things.spare, CU_STREAM_LEGACY);
     }},
    {"cuStreamSynchronize of another stream",
     [](const Session& session, Things& things) {
       return session.api.stream_synchronize(things.other);
     }},
    {"cuStreamSynchronize of the stream of the capture",
     [](const Session& session, Things& things) {
       return session.api.stream_synchronize(things.capturing);
     }},
    {"cuCtxSynchronize",
     [](const Session& session, Things&) { return session.api.ctx_synchronize(); }},
    {"cuCtxRecordEvent",
     [](const Session& session, Things& things) {
       if (session.api.ctx_record_event == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
       return session.api.ctx_record_event(session.context, things.spare);
     }},
    {"cuStreamGetId of the stream of the capture",
     [](const Session& session, Things& things) {
       unsigned long long id = 0;
       return session.api.stream_get_id(things.capturing, &id);
     }},
    {"cuStreamGetCtx of the stream of the capture",
     [](const Session& session, Things& things) {
       CUcontext context = nullptr;
       return session.api.stream_get_ctx(things.capturing, &context);
     }},
};

enum class Caller { same_thread, same_thread_made_relaxed, other_thread };

const char* in_words(Caller caller) {
  if (caller == Caller::same_thread) return "the same thread";
  if (caller == Caller::other_thread) return "another thread";
  return "the same thread, its mode exchanged for relaxed";
}

const char* in_words(CUstreamCaptureMode mode) {
  if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL) return "global";
  return mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ? "thread_local" : "relaxed";
}

CUresult make_call(const Session& session, Things& things, const Call& call, Caller caller) {
  if (caller == Caller::same_thread) return call.make(session, things);
  CUresult status = CUDA_SUCCESS;
  if (caller == Caller::same_thread_made_relaxed) {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    must(session.api.exchange_capture_mode(&mode), "cuThreadExchangeStreamCaptureMode");
    status = call.make(session, things);
    must(session.api.exchange_capture_mode(&mode), "cuThreadExchangeStreamCaptureMode");
    return status;
  }
  std::thread other([&] {
    must(session.api.ctx_set_current(session.context), "cuCtxSetCurrent");
    status = call.make(session, things);
  });
  other.join();
  return status;
}

Things make_things(const Session& session) {
  Things things;
  things.capturing = make_stream(session);
  things.other = make_stream(session);
  things.recorded = make_event(session);
  things.captured = make_event(session);
  things.spare = make_event(session);
  must(session.api.event_record(things.recorded, things.other), "cuEventRecord");
  must(session.api.mem_alloc(&things.memory, std::size_t{1} << 20), "cuMemAlloc");
  must(session.api.ctx_synchronize(), "cuCtxSynchronize");
  return things;
}

std::string what_became_of_the_capture(const Session& session, CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  must(session.api.stream_is_capturing(stream, &status), "cuStreamIsCapturing");
  CUgraph graph = nullptr;
  const CUresult end = session.api.stream_end_capture(stream, &graph);
  const std::string state = status == CU_STREAM_CAPTURE_STATUS_ACTIVE        ? "capture goes on"
                            : status == CU_STREAM_CAPTURE_STATUS_INVALIDATED ? "capture invalidated"
                                                                             : "no capture";
  return state + "; cuStreamEndCapture: " + in_words(session, end) +
         (graph == nullptr ? ", no graph" : ", a graph");
}

template <CUstreamCaptureMode mode, Caller caller>
void find_capture_facts() {
  const Session session = open_session();
  for (const Call& call : calls) {
    Things things = make_things(session);
    must(session.api.stream_begin_capture(things.capturing, mode), "cuStreamBeginCapture");
    must(session.api.event_record(things.captured, things.capturing), "cuEventRecord");
    const CUresult status = make_call(session, things, call, caller);
    const std::string afterwards = what_became_of_the_capture(session, things.capturing);
    tell({call.name, in_words(mode), in_words(caller), in_words(session, status), afterwards});
  }
}

}  // namespace

std::vector<Group> capture_groups() {
  constexpr auto global = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto by_thread = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  return {
      {"global capture, same thread", find_capture_facts<global, Caller::same_thread>},
      {"global capture, same thread made relaxed",
       find_capture_facts<global, Caller::same_thread_made_relaxed>},
      {"global capture, other thread", find_capture_facts<global, Caller::other_thread>},
      {"thread_local capture, same thread", find_capture_facts<by_thread, Caller::same_thread>},
      {"thread_local capture, other thread", find_capture_facts<by_thread, Caller::other_thread>},
      {"relaxed capture, same thread", find_capture_facts<relaxed, Caller::same_thread>},
      {"relaxed capture, other thread", find_capture_facts<relaxed, Caller::other_thread>},
  };
}

}  // namespace facts
