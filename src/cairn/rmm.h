// An Allocator as RMM's memory resource, so that cuDF and whatever else allocates by RMM uses it.
//
//     rmm::mr::set_per_device_resource(rmm::cuda_device_id{0},
//                                      cairn::RmmResource(cairn::default_allocator(), 0));
//
// It is a MemoryResource (see cairn/memory_resource.h) that fails with RMM's exceptions, with
// Cairn's words: rmm::out_of_memory, which cuDF's spilling waits for, where memory is short, and
// rmm::bad_alloc for all else. RMM before 26.06 keeps a reference alone, to one that lives as long:
// rmm::mr::set_per_device_resource_ref(rmm::cuda_device_id{0}, resource).
//
// Thread safety: all members. The allocator must outlive every copy.
#pragma once

#include <cstddef>
#include <cuda/stream_ref>
#include <rmm/error.hpp>

#include "cairn/memory_resource.h"

namespace cairn {

class RmmResource : public MemoryResource {
 public:
  using MemoryResource::MemoryResource;

  [[gnu::always_inline]] void* allocate(cuda::stream_ref stream, std::size_t bytes,
                                        std::size_t alignment = default_alignment) const {
    // Null becomes what it means in this file here: files may share what is not inlined below.
    const cuda::stream_ref named(Stream{StreamArgument(stream.get())});
    return translated([&] { return MemoryResource::allocate(named, bytes, alignment); });
  }
  [[gnu::always_inline]] void* allocate_async(std::size_t bytes, std::size_t alignment,
                                              cuda::stream_ref stream) const {
    return allocate(stream, bytes, alignment);
  }
  void* allocate_sync(std::size_t bytes, std::size_t alignment = default_alignment) const {
    return translated([&] { return MemoryResource::allocate_sync(bytes, alignment); });
  }
  void* allocate(std::size_t bytes, std::size_t alignment = default_alignment) const {
    return allocate_sync(bytes, alignment);
  }

 private:
  template <class Allocate>
  static void* translated(Allocate allocate) {
    try {
      return allocate();
    } catch (const OutOfMemory& failure) {
      throw rmm::out_of_memory(failure.what());
    } catch (const Exception& failure) {
      throw rmm::bad_alloc(failure.what());
    }
  }
};

}  // namespace cairn
