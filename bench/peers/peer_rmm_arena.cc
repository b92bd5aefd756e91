// RMM's arena_memory_resource. It takes its memory once and never more, so it is given all that the
// device has.
#include <rmm/mr/arena_memory_resource.hpp>

#include "bench/peers/rmm_peer.h"

namespace cairn::bench::peers {
namespace {

std::size_t free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  cudaMemGetInfo(&free, &total);
  return free;
}

class RmmArenaPeer : public RmmPeer<rmm::mr::arena_memory_resource<rmm::mr::cuda_memory_resource>> {
 public:
  static constexpr const char* name = "rmm_arena";

  explicit RmmArenaPeer(const std::vector<cudaStream_t>& streams)
      : RmmPeer(streams, free_memory()) {}
};

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  return cairn::bench::peers::run_peer<cairn::bench::peers::RmmArenaPeer>(argc, argv);
}
