#include <vector>

#include "bench/cub_contender.h"
#include "bench/held_memory.h"

namespace cairn::bench {

std::optional<HeldMemory> held_by_cub(const Sequence& sequence) {
  reset_stub_counts();
  CubContender cub;
  std::vector<void*> addresses(sequence.blocks);
  play(sequence, cub, addresses);
  const StubCounts& counts = stub_counts();
  return HeldMemory{counts.peak_held_bytes, counts.malloc_calls, counts.free_calls,
                    counts.event_calls};
}

}  // namespace cairn::bench
