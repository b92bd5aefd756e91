// An Allocator as Thrust's memory resource: for containers of device memory whose element type is
// chosen later, and what else takes a thrust::mr::memory_resource.
//
//     cairn::ThrustResource resource(cairn::default_allocator(), device, stream);
//     cairn::ThrustAllocator<float> floats(&resource);
//     thrust::device_vector<float, cairn::ThrustAllocator<float>> v(1000, 0.0f, floats);
//
// For the temporary memory of algorithms no resource is needed: StlAllocator<char>
// (cairn/stl_allocator.h) is what thrust::cuda::par(allocator).on(stream) takes.
//
// Memory belongs to the stream that the resource is bound to, with the semantics of
// Allocator::free. What a container does by itself (it fills and copies) is work on the default
// stream: bind another one only where the container is made without a fill and used by policies
// with .on(stream) alone. Work on other streams is to be done, or ordered before later work on the
// resource's stream, when memory is given back.
//
// What allocates throws what Allocator::allocate() throws; 0 bytes give null. What gives back
// throws nothing: what is wrong (no live block, an event that cannot be recorded) is said on
// stderr, and the block stays as it was. A resource equals itself alone; but up to CUDA 13.0 Thrust
// takes any two for equal: there, do not swap or move containers with different ones into each
// other.
//
// Thread safety: all members. Allocator and resource must outlive what is allocated by them.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/mr/allocator.h>
#include <thrust/mr/memory_resource.h>

#include <cstddef>

#include "cairn/allocator.h"
#include "cairn/failed_free.h"

namespace cairn {

class ThrustResource final : public thrust::mr::memory_resource<thrust::device_ptr<void>> {
 public:
  explicit ThrustResource(Allocator& allocator, int device = 0, StreamArgument stream = {}) noexcept
      : allocator_(&allocator), device_(device), stream_(stream) {}

  pointer do_allocate(std::size_t bytes, std::size_t alignment) override {
    return pointer(allocator_->allocate({bytes, device_, stream_, alignment}));
  }
  void do_deallocate(pointer memory, std::size_t /*bytes*/, std::size_t /*alignment*/) override {
    Error why;
    if (!allocator_->try_free(memory.get(), &why)) {
      say_failed_free(memory.get(), why.message.c_str());
    }
  }

 private:
  Allocator* allocator_;
  int device_;
  Stream stream_;
};

template <class T>
using ThrustAllocator = thrust::mr::allocator<T, ThrustResource>;

}  // namespace cairn
