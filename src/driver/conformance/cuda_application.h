// An application of the CUDA driver, real or simulated, that owns contexts and streams, and keeps
// streams busy. It finds libcuda by itself, with nothing of the driver that is under test.
#pragma once

#include <cudaTypedefs.h>

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "driver/conformance/conformance.h"

namespace cairn::conformance {

// The calls that an application makes, in the versions that stand in their types.
struct ApplicationApi {
  PFN_cuInit_v2000 init = nullptr;
  PFN_cuDeviceGetCount_v2000 device_get_count = nullptr;
  PFN_cuDevicePrimaryCtxRetain_v7000 primary_ctx_retain = nullptr;
  PFN_cuDevicePrimaryCtxRelease_v11000 primary_ctx_release = nullptr;
  PFN_cuDevicePrimaryCtxGetState_v7000 primary_ctx_get_state = nullptr;
  PFN_cuCtxCreate_v3020 ctx_create = nullptr;
  PFN_cuCtxDestroy_v4000 ctx_destroy = nullptr;
  PFN_cuCtxGetCurrent_v4000 ctx_get_current = nullptr;
  PFN_cuCtxPushCurrent_v4000 ctx_push_current = nullptr;
  PFN_cuCtxPopCurrent_v4000 ctx_pop_current = nullptr;
  PFN_cuCtxSynchronize_v2000 ctx_synchronize = nullptr;
  PFN_cuStreamCreate_v2000 stream_create = nullptr;
  PFN_cuStreamDestroy_v4000 stream_destroy = nullptr;
  PFN_cuLaunchHostFunc_v10000 launch_host_func = nullptr;  // Of the real library alone.

  // Of the simulated library alone (simulator/libcuda/control.h).
  void (*sim_reset)() = nullptr;
  int (*sim_launch)(CUstream stream, unsigned long long ticks) = nullptr;
  void (*sim_advance)(unsigned long long ticks) = nullptr;
  std::size_t (*sim_violations)(char* text, std::size_t size) = nullptr;

  bool is_simulated() const { return sim_reset != nullptr; }
};

// Null where there is no libcuda.so.1.
const ApplicationApi* find_application_api();

class CudaApplication : public DriverUnderTest {
 public:
  // REQUIRES: the driver and `api` are of the same library, and it has a device.
  CudaApplication(const ApplicationApi& api, std::unique_ptr<Driver> driver);
  CudaApplication(const CudaApplication&) = delete;
  CudaApplication& operator=(const CudaApplication&) = delete;
  ~CudaApplication() override;

  Driver& driver() override { return *driver_; }
  StreamRef make_stream(DeviceIndex device, StreamKind kind) override;
  StreamRef make_stream_in(DeviceIndex device, ContextHandle context) override;
  void destroy_stream(StreamRef stream) override;
  ContextHandle make_context(DeviceIndex device) override;
  std::uint64_t current_context() override;
  void set_current_context(DeviceIndex device, std::uint64_t context) override;

 protected:
  const ApplicationApi& api() const { return api_; }
  CUcontext primary(DeviceIndex device) const {
    return primaries_[static_cast<std::size_t>(device)];
  }
  // Where the stream's work is put on it.
  CUcontext context_of(StreamRef stream) const;
  // Waits for all work of all contexts.
  void wait_for_all() const;
  // Calls act() with that context current.
  template <class Act>
  void in_context(CUcontext context, Act&& act) const {
    must(api_.ctx_push_current(context), "cuCtxPushCurrent");
    act();
    CUcontext popped = nullptr;
    must(api_.ctx_pop_current(&popped), "cuCtxPopCurrent");
  }
  // Ends the process if the call failed.
  static void must(CUresult status, const char* call);

 private:
  StreamRef create_stream(DeviceIndex device, CUcontext context, unsigned int flags);

  const ApplicationApi& api_;
  std::unique_ptr<Driver> driver_;
  std::vector<CUcontext> primaries_;
  std::vector<CUcontext> contexts_;
  std::map<StreamRef, CUcontext> streams_;
};

// On a real GPU a held stream runs a host function that waits. The driver may run such functions
// one after another, whatever their streams.
class RealCudaApplication final : public CudaApplication {
 public:
  using CudaApplication::CudaApplication;
  ~RealCudaApplication() override;

  void hold(StreamRef stream) override;
  void let_go(StreamRef stream) override;
  bool knows_dead_handles() const override { return false; }

 private:
  struct Gate {
    std::mutex mutex;
    std::condition_variable opened;
    bool is_open = false;
  };
  static void CUDA_CB wait_at(void* gate);
  static void open(Gate& gate);

  std::mutex mutex_;
  std::deque<Gate> gates_;
  std::map<StreamRef, Gate*> gate_of_;
};

// On the simulated one it runs a kernel that ends when time has gone by.
class SimulatedCudaApplication final : public CudaApplication {
 public:
  using CudaApplication::CudaApplication;

  void hold(StreamRef stream) override;
  void let_go(StreamRef stream) override;
  bool knows_dead_handles() const override { return true; }

 private:
  static constexpr std::uint64_t ticks_each = 1000;

  std::mutex mutex_;
  std::uint64_t now_ = 0;  // At most what it is on the simulated GPU, where waiting takes time too.
  std::uint64_t last_end_ = 0;
  std::map<StreamRef, std::uint64_t> ends_;
};

}  // namespace cairn::conformance
