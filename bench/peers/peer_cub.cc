// cub::CachingDeviceAllocator, as in all benchmarks here (cub_contender.h).
#include "bench/cub_contender.h"
#include "bench/peers/peer.h"

namespace cairn::bench::peers {
namespace {

class CubPeer {
 public:
  static constexpr const char* name = "cub";

  explicit CubPeer(const std::vector<cudaStream_t>& streams) : streams_(streams) {}

  void* allocate(const Step& step) { return cub_.allocate(step.size_bytes, streams_[step.stream]); }
  void free(void* pointer, const Step&) { cub_.free(pointer); }
  void use(void* pointer, const Step& step) { cub_.record_stream(pointer, streams_[step.stream]); }

 private:
  const std::vector<cudaStream_t>& streams_;
  CubContender cub_;
};

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  return cairn::bench::peers::run_peer<cairn::bench::peers::CubPeer>(argc, argv);
}
