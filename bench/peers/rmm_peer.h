// RMM's resources over cudaMalloc, as its wheel's headers have them. They know no second stream of
// a block.
#pragma once

#include <rmm/cuda_stream_view.hpp>
#include <rmm/mr/cuda_memory_resource.hpp>

#include "bench/peers/peer.h"

namespace cairn::bench::peers {

template <class Resource>
class RmmPeer {
 public:
  RmmPeer(const std::vector<cudaStream_t>& streams, std::size_t size_bytes)
      : streams_(streams), resource_(&cuda_, size_bytes) {}

  void* allocate(const Step& step) {
    return resource_.allocate(streams_[step.stream], step.size_bytes);
  }
  void free(void* pointer, const Step& step) {
    resource_.deallocate(streams_[step.stream], pointer, step.size_bytes);
  }
  void use(void*, const Step&) {}

 private:
  const std::vector<cudaStream_t>& streams_;
  rmm::mr::cuda_memory_resource cuda_;
  Resource resource_;
};

}  // namespace cairn::bench::peers
