#include "preload/runtime.h"

#include <dlfcn.h>

#include <cstddef>

namespace cairn::preload {

void* find_in_runtime(const char* name) {
  if (void* const next = dlsym(RTLD_NEXT, name)) return next;
  for (const char* library : {"libcudart.so.13", "libcudart.so.12"}) {
    // Never closed: what is found in it must stay.
    void* const loaded = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    if (void* const found = dlsym(loaded, name)) return found;
  }
  return nullptr;
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
