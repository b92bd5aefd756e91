// Device memory in the shape of a standard allocator, for code that takes one and allocates raw
// memory by it: Thrust's algorithms (thrust::cuda::par(allocator).on(stream), with T = char),
// containers of device memory. Not for std::vector: it would construct its elements from the host.
//
// Memory belongs to the stream that the StlAllocator is bound to, with the semantics of
// Allocator::free: it may be freed while work on that stream still uses it.
//
// Two are equal if allocator, device and stream are the same; each can free what an equal one gave.
// Thread safety: all members. The allocator must outlive it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <new>
#include <type_traits>

#include "cairn/allocator.h"

namespace cairn {

template <class T>
class StlAllocator {
 public:
  using value_type = T;
  using is_always_equal = std::false_type;
  using propagate_on_container_copy_assignment = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  explicit StlAllocator(Allocator& allocator, int device = 0, StreamArgument stream = {}) noexcept
      : allocator_(&allocator), device_(device), stream_(stream) {}
  template <class U>
  StlAllocator(const StlAllocator<U>& other) noexcept  // NOLINT(google-explicit-constructor)
      : StlAllocator(other.allocator(), other.device(), other.stream()) {}

  // Device memory for `count` objects, aligned to 512 bytes or more; 0 gives null. Throws
  // std::bad_array_new_length where their bytes cannot be counted, else what Allocator::allocate()
  // throws.
  T* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) {
      throw std::bad_array_new_length();
    }
    Request request{count * sizeof(T), device_, stream_};
    request.alignment_bytes = std::max(request.alignment_bytes, alignof(T));
    return static_cast<T*>(allocator_->allocate(request));
  }
  // Throws nothing, as the standard wants. What is no live block of the allocator is left alone;
  // its free() is there for who wants to know.
  void deallocate(T* pointer, std::size_t /*count*/) noexcept { allocator_->try_free(pointer); }

  Allocator& allocator() const noexcept { return *allocator_; }
  int device() const noexcept { return device_; }
  // As it was given: null is the legacy default stream, wherever this is asked.
  StreamArgument stream() const noexcept { return stream_; }

 private:
  Allocator* allocator_;
  int device_;
  StreamArgument stream_;
};

template <class T, class U>
bool operator==(const StlAllocator<T>& a, const StlAllocator<U>& b) noexcept {
  return &a.allocator() == &b.allocator() && a.device() == b.device() &&
         Stream(a.stream()) == Stream(b.stream());
}
template <class T, class U>
bool operator!=(const StlAllocator<T>& a, const StlAllocator<U>& b) noexcept {
  return !(a == b);
}

}  // namespace cairn
