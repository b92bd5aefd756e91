#include "preload/contexts.h"

#include <dlfcn.h>

#include "preload/runtime.h"

namespace cairn::preload {

// Each has one ABI, so that its plain name will do.
struct Contexts::Calls {
  decltype(::cuCtxGetCurrent)* ctx_get_current = nullptr;
  decltype(::cuDevicePrimaryCtxRetain)* primary_ctx_retain = nullptr;
  decltype(::cuDevicePrimaryCtxGetState)* primary_ctx_get_state = nullptr;
  decltype(::cuDeviceGet)* device_get = nullptr;
  decltype(::cuDeviceGetCount)* device_get_count = nullptr;
};

namespace {

template <class Call>
bool find(void* library, const char* name, Call*& call) {
  call = reinterpret_cast<Call*>(dlsym(library, name));
  return call != nullptr;
}

}  // namespace

// Null where there is no driver. It is only asked for once the runtime has it.
const Contexts::Calls* Contexts::calls() {
  static const Calls* const found = []() -> const Calls* {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    static Calls calls;
    const bool is_whole =
        find(library, "cuCtxGetCurrent", calls.ctx_get_current) &&
        find(library, "cuDevicePrimaryCtxRetain", calls.primary_ctx_retain) &&
        find(library, "cuDevicePrimaryCtxGetState", calls.primary_ctx_get_state) &&
        find(library, "cuDeviceGet", calls.device_get) &&
        find(library, "cuDeviceGetCount", calls.device_get_count);
    return is_whole ? &calls : nullptr;
  }();
  return found;
}

bool Contexts::is_active(const Calls& driver, CUdevice id) {
  unsigned int flags = 0;
  int active = 0;
  return driver.primary_ctx_get_state(id, &flags, &active) == CUDA_SUCCESS && active != 0;
}

int Contexts::current_device() {
  int device = -1;
  if (real::get_device(&device) != cudaSuccess) return -1;
  const Calls* const driver = calls();
  if (driver == nullptr || device < 0 || device >= max_devices) return -1;
  CUcontext current = nullptr;
  if (driver->ctx_get_current(&current) != CUDA_SUCCESS || current == nullptr) {
    if (real::free(nullptr) != cudaSuccess) return -1;  // How a program makes the context.
    if (driver->ctx_get_current(&current) != CUDA_SUCCESS || current == nullptr) return -1;
  }
  std::atomic<CUcontext>& primary = primary_[static_cast<std::size_t>(device)];
  CUcontext known = primary.load(std::memory_order_acquire);
  if (known == nullptr) {
    CUdevice id = 0;
    if (driver->device_get(&id, device) != CUDA_SUCCESS) return -1;
    if (!is_active(*driver, id)) return -1;  // To ask for it would make it.
    // Held once more, for good, as Cairn's driver holds it.
    if (driver->primary_ctx_retain(&known, id) != CUDA_SUCCESS) return -1;
    primary.store(known, std::memory_order_release);
  }
  return current == known ? device : -1;
}

std::vector<int> Contexts::active_devices() {
  std::vector<int> active;
  const Calls* const driver = calls();
  int count = 0;
  if (driver == nullptr || driver->device_get_count(&count) != CUDA_SUCCESS) return active;
  for (int device = 0; device < count; ++device) {
    CUdevice id = 0;
    if (driver->device_get(&id, device) != CUDA_SUCCESS) continue;
    if (is_active(*driver, id)) active.push_back(device);
  }
  return active;
}

}  // namespace cairn::preload
