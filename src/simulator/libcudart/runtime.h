// What the runtime keeps beside the simulated libcuda: the last error and the device of each
// thread, and the error that all calls give once a device is lost.
//
// The runtime is linked to the libcuda.so.1 in its own folder. The loader knows that by name, so a
// program that loads either, or both, has one machine.
//
// Thread safety: all.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <new>

namespace cairn::simulator::runtime {

// Both interfaces number their errors alike.
inline cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }

// Keeps what a call gave for cudaGetLastError, and gives it.
cudaError_t remember(cudaError_t error);
cudaError_t last_error();
void forget_last_error();

// Success where libcuda can be called: it is initialized, and no device is lost.
cudaError_t enter();
// The same, and a context of the thread's device is current.
cudaError_t enter_context();
// Makes the device the thread's own.
cudaError_t use_device(int device);
void forget_lost_device();

// What act() gives, a CUresult or a cudaError_t, where libcuda can be called.
template <class Act>
cudaError_t call_entered(cudaError_t entered, Act&& act) {
  if (entered != cudaSuccess) return remember(entered);
  try {  // Nothing may be thrown at who called it by C.
    return remember(static_cast<cudaError_t>(act()));
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  }
}
template <class Act>
cudaError_t call(Act&& act) {
  return call_entered(enter(), act);
}
template <class Act>
cudaError_t call_in_context(Act&& act) {
  return call_entered(enter_context(), act);
}

// While it exists, stream 0 is the thread's own default stream for this thread.
class PerThreadDefault {
 public:
  PerThreadDefault();
  ~PerThreadDefault();
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;
};
// The stream that the calling thread means.
CUstream stream_of(cudaStream_t stream);

inline CUdeviceptr address_of(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
// Lets time go by for a program that asks again and again: gives `result`.
CUresult asked(CUresult result);

// 12080 or 13000: the runtime's own, in runtime_12.cc and runtime_13.cc.
extern const int version;

}  // namespace cairn::simulator::runtime
