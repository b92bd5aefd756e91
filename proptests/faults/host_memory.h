// Host memory that fails when it is told to, but never to a check of invariants. Replaces operator
// new and delete of the program, so that one source of it alone includes this.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "invariants/catalogue/hook.h"

namespace cairn::faults {

// Whether the next allocation of the calling thread fails; once.
inline thread_local bool next_allocation_fails = false;

inline void* allocate_host(std::size_t size_bytes, std::size_t alignment_bytes) {
  if (next_allocation_fails && !invariants::is_checking) {
    next_allocation_fails = false;
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

}  // namespace cairn::faults

// NOLINTBEGIN(misc-definitions-in-headers): what is replaced may not be inline.
void* operator new(std::size_t size) {
  return cairn::faults::allocate_host(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return cairn::faults::allocate_host(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept { cairn::faults::free_host(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { cairn::faults::free_host(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept {
  cairn::faults::free_host(pointer);
}
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
  cairn::faults::free_host(pointer);
}
// NOLINTEND(misc-definitions-in-headers)
