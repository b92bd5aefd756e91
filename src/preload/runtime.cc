#include "preload/runtime.h"

#include <dlfcn.h>

#include <cstddef>

namespace cairn::preload {

namespace {

// A runtime that came with a library may be closed with it, and what was found in it must stay.
void never_unload_what_has(void* call) {
  Dl_info place{};
  if (dladdr(call, &place) == 0 || place.dli_fname == nullptr) return;
  dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace

void* find_in_runtime(const char* name) {
  if (void* const next = dlsym(RTLD_NEXT, name)) {
    never_unload_what_has(next);
    return next;
  }
  for (const char* library : {"libcudart.so.13", "libcudart.so.12"}) {
    // Never closed: what is found in it must stay.
    void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    if (void* const found = dlsym(loaded, name)) return found;
  }
  return nullptr;
}

bool is_driver_loaded() {
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver != nullptr) dlclose(driver);
  return driver != nullptr;
}

cudaError_t refuse_value() {
  // Nowhere to answer is invalid, whatever is asked.
  cudaPointerAttributes* const nowhere = nullptr;
  const cudaError_t said = real::pointer_get_attributes(nowhere, nullptr);
  return said == cudaSuccess ? cudaErrorInvalidValue : said;
}

cudaError_t refuse_memory() {
  void* memory = nullptr;
  constexpr std::size_t too_much = std::size_t{1} << 62;
  const cudaError_t said = real::malloc(&memory, too_much);
  return said == cudaSuccess ? cudaErrorMemoryAllocation : said;
}

}  // namespace cairn::preload
