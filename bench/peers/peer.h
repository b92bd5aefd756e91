// What a peer is, and how it is measured: an allocator over CUDA's shared libraries, whichever
// those are, from empty, in a process of its own.
//
// A Peer is made of the streams that steps name, has a `name`, and carries out steps:
//   void* allocate(const Step&)   null, or an exception, where there is no memory
//   void free(void*, const Step&), void use(void*, const Step&)
// Its end gives all memory back, when all blocks are freed.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/peers/measure.h"
#include "bench/peers/workload.h"

namespace cairn::bench::peers {

template <class Peer>
class Player final : public PlayerOfAPeer {
 public:
  explicit Player(const Workload& workload)
      : workload_(workload), streams_(streams_of(workload)), addresses_(workload.sequence.blocks) {}

  double time_once() override {
    Peer peer(streams_);
    play(peer, workload_.preparing());
    const double start = processor_ns();
    play(peer, workload_.timed());
    const double ns = processor_ns() - start;
    play(peer, workload_.last_frees);
    return ns / static_cast<double>(workload_.timed().size());
  }

  void watch(Watcher& watcher) override {
    watcher.begin();
    Peer peer(streams_);
    watcher.look();
    for (const Step& step : workload_.all()) {
      play(peer, {&step, 1});
      if (step.kind == StepKind::allocate) watcher.look();
    }
    watcher.end();
    play(peer, workload_.last_frees);
  }

  void run_once() override {
    Peer peer(streams_);
    play(peer, workload_.all());
    play(peer, workload_.last_frees);
  }

 private:
  void play(Peer& peer, std::span<const Step> steps) {
    for (const Step& step : steps) {
      void*& address = addresses_[step.block];
      if (step.kind == StepKind::allocate) {
        address = peer.allocate(step);
        if (address == nullptr) throw OutOfMemory();
      } else if (step.kind == StepKind::free) {
        peer.free(address, step);
      } else {
        peer.use(address, step);
      }
    }
  }

  const Workload& workload_;
  std::vector<cudaStream_t> streams_;
  std::vector<void*> addresses_;
};

template <class Peer>
int run_peer(int argc, char** argv) {
  return run(argc, argv, Peer::name, [](const Workload& workload) {
    return std::unique_ptr<PlayerOfAPeer>(std::make_unique<Player<Peer>>(workload));
  });
}

}  // namespace cairn::bench::peers
