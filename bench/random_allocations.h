// RMM's RANDOM_ALLOCATIONS_BENCH, by its parameters: sizes drawn evenly from 1 to a maximum; as
// long as less than 16,000 MiB are live an operation allocates with probability 0.73, else it frees
// a live block at random; twice as many operations as allocations are named.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/sequence.h"

namespace cairn::bench {

struct RandomAllocations {
  std::uint64_t allocations;
  std::uint64_t largest_mib;
};

inline Sequence random_allocations(RandomAllocations parameters) {
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  constexpr std::uint64_t most_live = 16'000 * mib;
  struct Live {
    std::uint32_t block;
    std::uint64_t size_bytes;
  };
  Sequence sequence;
  sequence.name = "random-" + std::to_string(parameters.allocations) + "-of-" +
                  std::to_string(parameters.largest_mib) + "MiB";
  std::mt19937_64 random(20'741);
  std::vector<Live> live;
  std::uint64_t live_bytes = 0;
  while (sequence.steps.size() < 2 * parameters.allocations) {
    const std::uint64_t size_bytes = 1 + random() % (parameters.largest_mib * mib);
    const bool may_allocate = live_bytes + size_bytes <= most_live;
    if (live.empty() || (may_allocate && random() % 100 < 73)) {
      live.push_back({sequence.allocate(size_bytes), size_bytes});
      live_bytes += size_bytes;
      continue;
    }
    std::swap(live[random() % live.size()], live.back());
    sequence.free(live.back().block);
    live_bytes -= live.back().size_bytes;
    live.pop_back();
  }
  return sequence;
}

}  // namespace cairn::bench
