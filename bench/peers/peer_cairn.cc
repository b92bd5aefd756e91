// Cairn over its CUDA driver code, with the settings of the environment.
#include "bench/peers/peer.h"
#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"

namespace cairn::bench::peers {
namespace {

class CairnPeer {
 public:
  static constexpr const char* name = "cairn";

  explicit CairnPeer(const std::vector<cudaStream_t>& streams) : streams_(streams) {}

  void* allocate(const Step& step) {
    return allocator_.allocate({step.size_bytes, 0, streams_[step.stream]});
  }
  void free(void* pointer, const Step&) { allocator_.free(pointer); }
  void use(void* pointer, const Step& step) {
    allocator_.record_stream(pointer, streams_[step.stream]);
  }

 private:
  const std::vector<cudaStream_t>& streams_;
  Allocator allocator_ = Allocator::from_environment(cuda_driver());
};

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  return cairn::bench::peers::run_peer<cairn::bench::peers::CairnPeer>(argc, argv);
}
