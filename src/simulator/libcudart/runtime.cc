#include "simulator/libcudart/runtime.h"

#include <atomic>

#include "simulator/libcuda/control.h"
#include "simulator/libcuda/variables.h"

namespace cairn::simulator::runtime {
namespace {

struct ThreadState {
  cudaError_t last_error = cudaSuccess;
  int device = 0;
  bool is_default_per_thread = false;
};

ThreadState& this_thread() {
  static thread_local ThreadState state;
  return state;
}

std::atomic<cudaError_t>& lost() {
  static std::atomic<cudaError_t> error{cudaSuccess};
  return error;
}

// After such an error nothing works until the device is reset.
bool is_sticky(cudaError_t error) {
  return error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure ||
         error == cudaErrorAssert || error == cudaErrorMisalignedAddress;
}

unsigned long long query_ticks() {
  const auto& variable = variables::query_ticks;
  return value_of(variable).value_or(variable.otherwise);
}

CUresult make_current(int device) {
  unsigned int flags = 0;
  int is_active = 0;
  if (const CUresult bad = cuDevicePrimaryCtxGetState(device, &flags, &is_active)) return bad;
  CUcontext context = nullptr;
  if (const CUresult bad = cuDevicePrimaryCtxRetain(&context, device)) return bad;
  if (is_active != 0) cuDevicePrimaryCtxRelease(device);  // Held once, however many threads come.
  return cuCtxSetCurrent(context);
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess) this_thread().last_error = error;
  if (is_sticky(error)) lost() = error;
  return error;
}

cudaError_t last_error() { return this_thread().last_error; }

void forget_last_error() { this_thread().last_error = lost(); }

cudaError_t enter() {
  if (lost() != cudaSuccess) return lost();
  return error_of(cuInit(0));
}

cudaError_t enter_context() {
  if (const cudaError_t bad = enter()) return bad;
  CUcontext current = nullptr;
  if (const CUresult bad = cuCtxGetCurrent(&current)) return error_of(bad);
  if (current != nullptr) return cudaSuccess;
  return error_of(make_current(this_thread().device));
}

cudaError_t use_device(int device) {
  const CUresult made = make_current(device);
  if (made == CUDA_SUCCESS) this_thread().device = device;
  return error_of(made);
}

void forget_lost_device() { lost() = cudaSuccess; }

PerThreadDefault::PerThreadDefault() { this_thread().is_default_per_thread = true; }
PerThreadDefault::~PerThreadDefault() { this_thread().is_default_per_thread = false; }

CUstream stream_of(cudaStream_t stream) {
  const bool is_own = stream == nullptr && this_thread().is_default_per_thread;
  return is_own ? cudaStreamPerThread : stream;
}

CUresult asked(CUresult result) {
  if (result == CUDA_ERROR_NOT_READY) cairn_sim_advance(query_ticks());
  return result;
}

}  // namespace cairn::simulator::runtime
