#include "driver/conformance/cuda_application.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace cairn::conformance {
namespace {

CUstream cuda_stream(StreamRef stream) {
  return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(stream.handle));
}

class Library {
 public:
  explicit Library(void* library) : library_(library) {
    symbol(get_proc_address_, "cuGetProcAddress_v2");
  }
  template <class Function>
  void symbol(Function& call, const char* name) const {
    call = reinterpret_cast<Function>(dlsym(library_, name));
  }
  template <class Function>
  void find(Function& call, const char* name, int version) const {
    void* address = nullptr;
    get_proc_address_(name, &address, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, nullptr);
    call = reinterpret_cast<Function>(address);
  }

 private:
  void* library_;
  PFN_cuGetProcAddress_v12000 get_proc_address_ = nullptr;
};

std::unique_ptr<ApplicationApi> load() {
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  const Library library(handle);
  auto api = std::make_unique<ApplicationApi>();
  library.find(api->init, "cuInit", 2000);
  library.find(api->device_get_count, "cuDeviceGetCount", 2000);
  library.find(api->primary_ctx_retain, "cuDevicePrimaryCtxRetain", 7000);
  library.find(api->primary_ctx_release, "cuDevicePrimaryCtxRelease", 11000);
  library.find(api->primary_ctx_get_state, "cuDevicePrimaryCtxGetState", 7000);
  library.find(api->ctx_create, "cuCtxCreate", 3020);
  library.find(api->ctx_destroy, "cuCtxDestroy", 4000);
  library.find(api->ctx_get_current, "cuCtxGetCurrent", 4000);
  library.find(api->ctx_push_current, "cuCtxPushCurrent", 4000);
  library.find(api->ctx_pop_current, "cuCtxPopCurrent", 4000);
  library.find(api->ctx_synchronize, "cuCtxSynchronize", 2000);
  library.find(api->stream_create, "cuStreamCreate", 2000);
  library.find(api->stream_destroy, "cuStreamDestroy", 4000);
  library.find(api->launch_host_func, "cuLaunchHostFunc", 10000);
  library.symbol(api->sim_reset, "cairn_sim_reset");
  library.symbol(api->sim_launch, "cairn_sim_launch");
  library.symbol(api->sim_advance, "cairn_sim_advance");
  library.symbol(api->sim_violations, "cairn_sim_violations");
  return api;
}

}  // namespace

const ApplicationApi* find_application_api() {
  static const std::unique_ptr<ApplicationApi> api = load();
  return api.get();
}

CudaApplication::CudaApplication(const ApplicationApi& api, std::unique_ptr<Driver> driver)
    : api_(api), driver_(std::move(driver)) {
  int devices = 0;
  must(api_.init(0), "cuInit");
  must(api_.device_get_count(&devices), "cuDeviceGetCount");
  for (int device = 0; device < devices; ++device) {
    must(api_.primary_ctx_retain(&primaries_.emplace_back(), device), "cuDevicePrimaryCtxRetain");
  }
}

CudaApplication::~CudaApplication() {
  driver_.reset();
  for (const auto& [stream, context] : streams_) {
    in_context(context, [&] { api_.stream_destroy(cuda_stream(stream)); });
  }
  for (CUcontext context : contexts_) must(api_.ctx_destroy(context), "cuCtxDestroy");
  for (std::size_t device = 0; device < primaries_.size(); ++device) {
    must(api_.primary_ctx_release(static_cast<int>(device)), "cuDevicePrimaryCtxRelease");
  }
}

void CudaApplication::must(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  const std::string_view name = to_string(static_cast<CudaStatus>(status));
  std::fprintf(stderr, "the application's %s failed: %.*s\n", call, static_cast<int>(name.size()),
               name.data());
  std::abort();
}

StreamRef CudaApplication::create_stream(DeviceIndex device, CUcontext context,
                                         unsigned int flags) {
  CUstream stream = nullptr;
  in_context(context, [&] { must(api_.stream_create(&stream, flags), "cuStreamCreate"); });
  const StreamRef made{device, reinterpret_cast<std::uintptr_t>(stream)};
  streams_[made] = context;
  return made;
}

StreamRef CudaApplication::make_stream(DeviceIndex device, StreamKind kind) {
  return create_stream(device, primary(device),
                       kind == StreamKind::blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
}

StreamRef CudaApplication::make_stream_in(DeviceIndex device, ContextHandle context) {
  return create_stream(device,
                       reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(context.value)),
                       CU_STREAM_NON_BLOCKING);
}

void CudaApplication::destroy_stream(StreamRef stream) {
  const auto found = streams_.extract(stream);
  in_context(found.mapped(),
             [&] { must(api_.stream_destroy(cuda_stream(stream)), "cuStreamDestroy"); });
}

ContextHandle CudaApplication::make_context(DeviceIndex device) {
  CUcontext context = nullptr;
  CUcontext popped = nullptr;
  must(api_.ctx_create(&context, 0, device), "cuCtxCreate");
  must(api_.ctx_pop_current(&popped), "cuCtxPopCurrent");
  contexts_.push_back(context);
  return {reinterpret_cast<std::uintptr_t>(context)};
}

CUcontext CudaApplication::context_of(StreamRef stream) const {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? primary(stream.device) : found->second;
}

void CudaApplication::wait_for_all() const {
  std::vector<CUcontext> all = primaries_;
  all.insert(all.end(), contexts_.begin(), contexts_.end());
  for (CUcontext context : all) {
    in_context(context, [&] { must(api_.ctx_synchronize(), "cuCtxSynchronize"); });
  }
}

std::uint64_t CudaApplication::current_context() {
  CUcontext current = nullptr;
  must(api_.ctx_get_current(&current), "cuCtxGetCurrent");
  return reinterpret_cast<std::uintptr_t>(current);
}

void CudaApplication::set_current_context(DeviceIndex, std::uint64_t context) {
  CUcontext popped = nullptr;
  if (context == 0) return must(api_.ctx_pop_current(&popped), "cuCtxPopCurrent");
  must(api_.ctx_push_current(reinterpret_cast<CUcontext>(static_cast<std::uintptr_t>(context))),
       "cuCtxPushCurrent");
}

// Whatever is still held is let go, in order, so that the streams can end.
RealCudaApplication::~RealCudaApplication() {
  for (Gate& gate : gates_) open(gate);
  wait_for_all();
}

void RealCudaApplication::hold(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  Gate& gate = gates_.emplace_back();
  gate_of_[stream] = &gate;
  in_context(context_of(stream), [&] {
    must(api().launch_host_func(cuda_stream(stream), wait_at, &gate), "cuLaunchHostFunc");
  });
}

void RealCudaApplication::let_go(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  open(*gate_of_.at(stream));
}

void RealCudaApplication::wait_at(void* gate) {
  Gate& closed = *static_cast<Gate*>(gate);
  std::unique_lock lock(closed.mutex);
  closed.opened.wait(lock, [&] { return closed.is_open; });
}

void RealCudaApplication::open(Gate& gate) {
  const std::lock_guard lock(gate.mutex);
  gate.is_open = true;
  gate.opened.notify_all();
}

void SimulatedCudaApplication::hold(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  in_context(context_of(stream), [&] {
    const std::uint64_t ticks = last_end_ + ticks_each - now_;
    must(static_cast<CUresult>(api().sim_launch(cuda_stream(stream), ticks)), "cairn_sim_launch");
  });
  last_end_ += ticks_each;
  ends_[stream] = last_end_;
}

void SimulatedCudaApplication::let_go(StreamRef stream) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = std::max(now_, ends_[stream]);
  api().sim_advance(end - now_);
  now_ = end;
}

}  // namespace cairn::conformance
