// The cases of hit_benchmark, for one allocator.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/churn.h"

namespace cairn::bench {

inline constexpr std::size_t live_block_counts[] = {1'000, 10'000, 100'000, 1'000'000};
inline constexpr benchmark::IterationCount pairs_a_repetition = 200'000;

template <class Contender>
void measure_hits(benchmark::State& state, Victims victims, std::size_t live_blocks) {
  const auto contender = std::make_unique<Contender>();
  Churn<Contender> churn(*contender, live_blocks);
  const auto drawn = churn.draw(victims, static_cast<std::size_t>(state.max_iterations));
  const std::uint64_t misses_before = contender->misses();
  std::size_t i = 0;
  for (auto _ : state) churn.replace(drawn[i++]);
  if (contender->misses() != misses_before) state.SkipWithError("a pair was not a hit");
}

// "same_victim/1000/cairn": what stands before the last slash is measured for every contender.
template <class Contender>
void register_hits(const std::string& contender) {
  for (const Victims victims : {Victims::same, Victims::random}) {
    const std::string kind = victims == Victims::same ? "same_victim/" : "random_victim/";
    for (const std::size_t live_blocks : live_block_counts) {
      const std::string name = kind + std::to_string(live_blocks) + "/" + contender;
      benchmark::RegisterBenchmark(name.c_str(), measure_hits<Contender>, victims, live_blocks)
          ->Iterations(pairs_a_repetition);
    }
  }
}

// Adds cub::CachingDeviceAllocator, where this build has it: "cub". False: it has not.
bool register_cub();

}  // namespace cairn::bench
