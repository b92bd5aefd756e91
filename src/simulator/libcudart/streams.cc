// Streams and events.
#include "simulator/libcudart/runtime.h"

namespace sim = cairn::simulator::runtime;

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return sim::call_in_context([&] { return cuStreamCreateWithPriority(stream, flags, priority); });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return sim::call_in_context([&] { return cuStreamDestroy(stream); });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return sim::call_in_context([&] { return cuStreamSynchronize(sim::stream_of(stream)); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return sim::call_in_context([&] { return sim::asked(cuStreamQuery(sim::stream_of(stream))); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return sim::call_in_context(
      [&] { return cuStreamWaitEvent(sim::stream_of(stream), event, flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return sim::call_in_context(
      [&] { return cuStreamGetPriority(sim::stream_of(stream), priority); });
}
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int* flags) {
  return sim::call_in_context([&] { return cuStreamGetFlags(sim::stream_of(stream), flags); });
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return sim::call_in_context([&] { return cuStreamGetId(sim::stream_of(stream), id); });
}
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  return sim::call_in_context([&] { return cuStreamGetDevice(sim::stream_of(stream), device); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return sim::call_in_context([&] {
    return cuStreamIsCapturing(sim::stream_of(stream),
                               reinterpret_cast<CUstreamCaptureStatus*>(status));
  });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return sim::call([&] {
    return cuThreadExchangeStreamCaptureMode(reinterpret_cast<CUstreamCaptureMode*>(mode));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  return sim::call_in_context(
      [&] { return cuLaunchHostFunc(sim::stream_of(stream), function, data); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* data,
                                  unsigned int flags) {
  struct Call {
    cudaStream_t stream;
    cudaStreamCallback_t callback;
    void* data;
  } call{stream, callback, data};
  if (callback == nullptr || flags != 0) return sim::remember(cudaErrorInvalidValue);
  // It is called before this returns, so `call` outlives it.
  return cudaLaunchHostFunc(
      stream,
      [](void* known) {
        const auto& each = *static_cast<Call*>(known);
        each.callback(each.stream, cudaSuccess, each.data);
      },
      &call);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return sim::call_in_context([&] { return cuEventCreate(event, flags); });
}
#undef cudaEventCreate
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return sim::call_in_context(
      [&] { return cuEventRecordWithFlags(event, sim::stream_of(stream), flags); });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return sim::call_in_context([&] { return sim::asked(cuEventQuery(event)); });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return sim::call_in_context([&] { return cuEventSynchronize(event); });
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return sim::call_in_context([&] { return cuEventDestroy(event); });
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return sim::call_in_context([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
