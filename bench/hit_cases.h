// Hits: a free and an allocation that the cache serves, among many live blocks.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench/churn.h"

namespace cairn::bench {

inline constexpr std::size_t live_block_counts[] = {100, 1'000, 10'000, 100'000, 1'000'000};
// Fewer where the dear invariants are looked at each time.
inline constexpr benchmark::IterationCount pairs_a_repetition =
    CAIRN_INVARIANT_LEVEL < 2 ? 200'000 : 200;

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

// "hit/same_victim/1000/cairn": what stands before the last slash is measured for every contender.
template <class Contender>
void register_hits() {
  for (const Victims victims : {Victims::same, Victims::random}) {
    const std::string kind = victims == Victims::same ? "hit/same_victim/" : "hit/random_victim/";
    for (const std::size_t live_blocks : live_block_counts) {
      const std::string name = kind + std::to_string(live_blocks) + "/" + Contender::name;
      benchmark::RegisterBenchmark(name.c_str(), measure_hits<Contender>, victims, live_blocks)
          ->Iterations(pairs_a_repetition);
    }
  }
}

}  // namespace cairn::bench
