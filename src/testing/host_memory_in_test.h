// Host memory that fails when a test says so, but never to a check that a guarded scope makes:
// replaces operator new and delete of the program, so that one source of it alone includes this.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "invariants/catalogue/hook.h"

namespace cairn {

// How many allocations of the calling thread it takes until one fails, those of checks not counted;
// 0: none does.
inline thread_local int allocations_until_failure = 0;

inline void* allocate_host(std::size_t size_bytes, std::size_t alignment_bytes) {
  if (!invariants::is_checking && allocations_until_failure > 0 &&
      --allocations_until_failure == 0) {
    throw std::bad_alloc();
  }
  const std::size_t rounded =
      (size_bytes + alignment_bytes - 1) / alignment_bytes * alignment_bytes;
  void* const pointer = std::aligned_alloc(alignment_bytes, rounded);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

// Out of line, so that the compiler does not take a delete that it inlines for a mismatch.
[[gnu::noinline]] inline void free_host(void* pointer) { std::free(pointer); }

}  // namespace cairn

// NOLINTBEGIN(misc-definitions-in-headers): what is replaced may not be inline.
void* operator new(std::size_t size) {
  return cairn::allocate_host(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return cairn::allocate_host(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { cairn::free_host(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { cairn::free_host(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { cairn::free_host(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
  cairn::free_host(pointer);
}
// NOLINTEND(misc-definitions-in-headers)
