// RMM's pool_memory_resource, which grows from nothing: of what it asks to be told, the kindest.
#include <rmm/mr/pool_memory_resource.hpp>

#include "bench/peers/rmm_peer.h"

namespace cairn::bench::peers {
namespace {

class RmmPoolPeer : public RmmPeer<rmm::mr::pool_memory_resource<rmm::mr::cuda_memory_resource>> {
 public:
  static constexpr const char* name = "rmm_pool";

  explicit RmmPoolPeer(const std::vector<cudaStream_t>& streams) : RmmPeer(streams, 0) {}
};

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  return cairn::bench::peers::run_peer<cairn::bench::peers::RmmPoolPeer>(argc, argv);
}
