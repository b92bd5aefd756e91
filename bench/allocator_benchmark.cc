// What the operations of an allocator cost, beside what they cost cub::CachingDeviceAllocator: one
// process, the same blocks and victims, repetitions in turns, medians, processor time (of several
// threads the wall clock). Flags are those of Google Benchmark, e.g.
// --benchmark_filter=hit/same_victim/1000/
#include <memory>
#include <string>

#include "bench/block_cases.h"
#include "bench/contenders.h"
#include "bench/floor_cases.h"
#include "bench/hit_cases.h"
#include "bench/random_allocations.h"
#include "bench/replay_cases.h"
#include "bench/run_benchmarks.h"
#include "bench/thread_cases.h"
#include "bench/xla_cases.h"

namespace cairn::bench {
namespace {

void register_random_allocations() {
  for (const std::uint64_t allocations : {1'000u, 10'000u, 100'000u}) {
    for (const std::uint64_t largest_mib : {1u, 4u, 64u, 256u, 1024u, 4096u}) {
      const auto sequence =
          std::make_shared<const Sequence>(random_allocations({allocations, largest_mib}));
      for_each_cache([&]<class Contender> { register_replay<Contender>("rmm", sequence); });
    }
  }
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  const char* const usage = "usage: allocator_benchmark [FLAG...]";
  if (!read_command_line(argc, argv, usage, Others::none).is_good) return 2;
  for_each_cache([]<class Contender> {
    register_hits<Contender>();
    register_blocks<Contender>();
    register_threads<Contender>();
    register_xla<Contender>();
  });
  register_floor();
  register_cross_stream<CairnContender>();
  register_random_allocations();
  run_benchmarks();
  return 0;
}
