// The names that the two generations of cuda::mr have for the same things, so that the tests of
// cairn/memory_resource.h are one text: up to CUDA 13.0, and from 13.1 on.
#pragma once

#include <cstddef>
#include <cuda/memory_resource>
#include <cuda/std/version>
#include <cuda/stream_ref>

namespace cairn::clients {

inline constexpr std::size_t alignment = 256;

#if CCCL_VERSION < 3001000

inline constexpr bool is_first_generation = true;

template <class R>
inline constexpr bool is_resource = cuda::mr::async_resource<R>;
template <class R>
inline constexpr bool is_synchronous_resource = cuda::mr::resource<R>;
template <class R, class P>
inline constexpr bool is_resource_with = cuda::mr::async_resource_with<R, P>;

using Ref = cuda::mr::async_resource_ref<cuda::mr::device_accessible>;

inline void* allocate(Ref ref, cudaStream_t stream, std::size_t bytes, std::size_t aligned) {
  return ref.allocate_async(bytes, aligned, stream);
}
inline void deallocate(Ref ref, cudaStream_t stream, void* p, std::size_t bytes) {
  ref.deallocate_async(p, bytes, alignment, stream);
}
inline void* allocate_sync(Ref ref, std::size_t bytes) { return ref.allocate(bytes, alignment); }
inline void deallocate_sync(Ref ref, void* p, std::size_t bytes) {
  ref.deallocate(p, bytes, alignment);
}

#else

inline constexpr bool is_first_generation = false;

template <class R>
inline constexpr bool is_resource = cuda::mr::resource<R>;
template <class R>
inline constexpr bool is_synchronous_resource = cuda::mr::synchronous_resource<R>;
template <class R, class P>
inline constexpr bool is_resource_with = cuda::mr::resource_with<R, P>;

// Owns a copy.
using Ref = cuda::mr::any_resource<cuda::mr::device_accessible>;

inline void* allocate(Ref& ref, cudaStream_t stream, std::size_t bytes, std::size_t aligned) {
  return ref.allocate(stream, bytes, aligned);
}
inline void deallocate(Ref& ref, cudaStream_t stream, void* p, std::size_t bytes) {
  ref.deallocate(stream, p, bytes, alignment);
}
inline void* allocate_sync(Ref& ref, std::size_t bytes) {
  return ref.allocate_sync(bytes, alignment);
}
inline void deallocate_sync(Ref& ref, void* p, std::size_t bytes) {
  ref.deallocate_sync(p, bytes, alignment);
}

#endif

}  // namespace cairn::clients
