// An Allocator as a memory resource of CUDA's core libraries (CCCL): for whatever takes a
// cuda::mr::resource_ref, any_resource or async_resource_ref, and CUB's and Thrust's environments.
//
//     cairn::MemoryResource resource(cairn::default_allocator(), device);
//     void* p = resource.allocate(stream, bytes, 256);
//     resource.deallocate(stream, p, bytes, 256);
//
// One class is a resource of both generations of cuda::mr: of CUDA 12 and 13.0 (`async_resource`;
// the program defines LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE) and from 13.1 on (`resource`,
// `synchronous_resource`). It is a handle: copies are the same resource. Two are equal if allocator
// and device are the same: each can free what an equal one gave. C++17; needs CCCL's headers and
// the CUDA runtime.
//
// Memory is that of the device named here, whatever the current device is, and belongs to the
// stream it was allocated for, with the semantics of Allocator::free. It may be given back on
// another stream, which must be one of the same device: it is then handed out again when the work
// that is on that stream now is done. Synchronous calls wait, as cudaMalloc and cudaFree do: what
// they give can be used on any stream at once, and what is given back to them may be in use.
//
// What allocates throws what Allocator::allocate() throws (OutOfMemory, InvalidArgument ...); of
// cairn/rmm.h RMM's exceptions. 0 bytes give null. What gives back throws nothing: what is wrong
// (no live block, an event that cannot be recorded) is said on stderr, and the block stays as it
// was. Bytes and alignment are not looked at then: a block is known by its address, and so is one
// of another device, which is freed too, in the order of the stream of this resource's device.
//
// Thread safety: all members. The allocator must outlive every copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cuda/memory_resource>
#include <cuda/std/version>
#include <cuda/stream_ref>
#include <string>

#include "cairn/allocator.h"
#include "cairn/failed_free.h"

#if CCCL_VERSION < 3001000 && !defined(LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE)
#error \
    "cairn/memory_resource.h: before CUDA 13.1 compile with \
-DLIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE"
#endif

namespace cairn {

class MemoryResource {
 public:
  // CUDA's own; 512 bytes hold in truth.
  static constexpr std::size_t default_alignment = 256;

  explicit MemoryResource(Allocator& allocator, int device = 0) noexcept
      : allocator_(&allocator), device_(device) {}

  // Device memory of at least `bytes`, aligned to `alignment`: a power of two, 2 MiB at most. Null
  // in a stream_ref means what it means to a StreamArgument.
  [[gnu::always_inline]] void* allocate(cuda::stream_ref stream, std::size_t bytes,
                                        std::size_t alignment = default_alignment) const {
    return allocate_for(stream.get(), bytes, alignment);
  }
  [[gnu::always_inline]] void deallocate(
      cuda::stream_ref stream, void* pointer, std::size_t /*bytes*/,
      std::size_t /*alignment*/ = default_alignment) const noexcept {
    free_on(pointer, stream.get());
  }
  // Of the legacy default stream, for which it waits. Throws CudaError too.
  void* allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) const {
    void* const pointer = allocate_for(legacy_stream(), bytes, alignment);
    const cudaError_t failure = pointer == nullptr
                                    ? cudaSuccess
                                    : wait([] { return cudaStreamSynchronize(legacy_stream()); });
    if (failure == cudaSuccess) return pointer;
    free_on(pointer, legacy_stream());
    throw_error({ErrorCode::cuda_error, static_cast<int>(failure),
                 "allocate_sync: the wait for the legacy default stream of device " +
                     std::to_string(device_) + " failed: " + cudaGetErrorString(failure),
                 nullptr});
  }
  // Waits for the device, and so takes memory back that any stream of it still uses.
  void deallocate_sync(void* pointer, std::size_t /*bytes*/,
                       std::size_t /*alignment*/ = default_alignment) const noexcept {
    if (pointer == nullptr) return;
    const cudaError_t failure = wait([] { return cudaDeviceSynchronize(); });
    if (failure == cudaSuccess) return free_on(pointer, legacy_stream());
    say_failed_free(pointer, cudaGetErrorString(failure));
  }

  // The names of CUDA 13.0 and before for these four, in this order.
  [[gnu::always_inline]] void* allocate_async(std::size_t bytes, std::size_t alignment,
                                              cuda::stream_ref stream) const {
    return allocate_for(stream.get(), bytes, alignment);
  }
  [[gnu::always_inline]] void deallocate_async(void* pointer, std::size_t /*bytes*/,
                                               std::size_t /*alignment*/,
                                               cuda::stream_ref stream) const noexcept {
    free_on(pointer, stream.get());
  }
  void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) const {
    return allocate_sync(bytes, alignment);
  }
  void deallocate(void* pointer, std::size_t bytes,
                  std::size_t alignment = default_alignment) const noexcept {
    deallocate_sync(pointer, bytes, alignment);
  }

  Allocator& allocator() const noexcept { return *allocator_; }
  int device() const noexcept { return device_; }

  friend bool operator==(const MemoryResource& a, const MemoryResource& b) noexcept {
    return a.allocator_ == b.allocator_ && a.device_ == b.device_;
  }
  friend bool operator!=(const MemoryResource& a, const MemoryResource& b) noexcept {
    return !(a == b);
  }
  friend constexpr void get_property(const MemoryResource&, cuda::mr::device_accessible) noexcept {}

 private:
  static Stream legacy_stream() noexcept { return reinterpret_cast<Stream>(1); }

  void* allocate_for(StreamArgument stream, std::size_t bytes, std::size_t alignment) const {
    return allocator_->allocate({bytes, device_, stream, alignment});
  }
  void free_on(void* pointer, StreamArgument stream) const noexcept {
    Error why;
    if (!allocator_->try_free_on(pointer, stream, device_, &why)) {
      say_failed_free(pointer, why.message.c_str());
    }
  }

  // What `call` of the CUDA runtime says on this device, which is not left as the current one. The
  // thread's last error does not say it a second time.
  template <class Call>
  cudaError_t wait(Call call) const noexcept {
    const cudaError_t failure = on_device(call);
    if (failure != cudaSuccess) cudaGetLastError();
    return failure;
  }
  template <class Call>
  cudaError_t on_device(Call call) const noexcept {
    int current = 0;
    cudaError_t failure = cudaGetDevice(&current);
    if (failure == cudaSuccess) failure = cudaSetDevice(device_);
    if (failure != cudaSuccess) return failure;
    failure = call();
    const cudaError_t restored = cudaSetDevice(current);
    return failure != cudaSuccess ? failure : restored;
  }

  Allocator* allocator_;
  int device_;
};

}  // namespace cairn
