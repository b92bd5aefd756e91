// The calls of libcudart.so.13 that the peers make. Every other one is there too, says its name
// and gives an error.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>

#include "bench/null_device/null_device.h"

using cairn::bench::NullCall;

namespace {

cudaError_t done(NullCall call) {
  cairn::bench::count(call);
  return cudaSuccess;
}

}  // namespace

// CUDA's own names and parameters.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

cudaError_t cudaMalloc(void** pointer, std::size_t size_bytes) {
  cairn::bench::count(NullCall::malloc);
  *pointer = reinterpret_cast<void*>(cairn::bench::cairn_null_device_malloc(size_bytes));
  return *pointer == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
cudaError_t cudaFree(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  cairn::bench::count(NullCall::free);
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  return cairn::bench::cairn_null_device_free(address) ? cudaSuccess : cudaErrorInvalidValue;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total_bytes) {
  *free_bytes = cairn::bench::null_memory_bytes - cairn::bench::cairn_null_device_held();
  *total_bytes = cairn::bench::null_memory_bytes;
  return done(NullCall::other);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  static std::uintptr_t last = 0;
  *event = reinterpret_cast<cudaEvent_t>(++last);
  return done(NullCall::event_create);
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return done(NullCall::event_record); }
cudaError_t cudaEventQuery(cudaEvent_t) { return done(NullCall::event_query); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return done(NullCall::event_destroy); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return done(NullCall::wait); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) {
  return done(NullCall::wait);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return done(NullCall::wait); }
cudaError_t cudaDeviceSynchronize() { return done(NullCall::wait); }

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return done(NullCall::context);
}
cudaError_t cudaSetDevice(int) { return done(NullCall::context); }
cudaError_t cudaGetDeviceCount(int* devices) {
  *devices = 1;
  return done(NullCall::other);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "none");
  properties->totalGlobalMem = cairn::bench::null_memory_bytes;
  properties->major = 9;
  properties->multiProcessorCount = 132;
  return done(NullCall::other);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1;
  return done(NullCall::other);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = 0;
  return done(NullCall::other);
}

// Handles are addresses.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  static std::uintptr_t last = 0;
  *stream = reinterpret_cast<cudaStream_t>(++last << 12);
  return done(NullCall::other);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = reinterpret_cast<std::uintptr_t>(stream);
  return done(NullCall::other);
}
cudaError_t cudaStreamQuery(cudaStream_t) { return done(NullCall::other); }
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  *status = cudaStreamCaptureStatusNone;
  return done(NullCall::other);
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return done(NullCall::other);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13'000;
  return done(NullCall::other);
}
cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }
// No calls of the device, but of the library alone.
cudaError_t cudaGetLastError() { return cudaSuccess; }
cudaError_t cudaPeekAtLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "see cudaError_t"; }
const char* cudaGetErrorName(cudaError_t) { return "cudaError_t"; }

}  // extern "C"
// NOLINTEND(readability-identifier-naming)
