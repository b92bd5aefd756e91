// A sequence replayed from an empty allocator: the time of a step.
#pragma once

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "bench/sequence.h"

namespace cairn::bench {

template <class Contender>
void replay_sequence(benchmark::State& state, const Sequence& sequence) {
  std::vector<void*> addresses(sequence.blocks);
  std::uint64_t misses = 0;
  const auto steps = static_cast<benchmark::IterationCount>(sequence.steps.size());
  while (state.KeepRunningBatch(steps)) {
    state.PauseTiming();
    auto contender = std::make_unique<Contender>();
    const std::uint64_t misses_before = contender->misses();
    state.ResumeTiming();
    play(sequence, *contender, addresses);
    state.PauseTiming();
    misses = contender->misses() - misses_before;
    contender.reset();
    state.ResumeTiming();
  }
  state.counters["misses"] = static_cast<double>(misses);
  state.counters["steps"] = static_cast<double>(steps);
}

// "FAMILY/NAME/cairn"
template <class Contender>
void register_replay(const std::string& family, const std::shared_ptr<const Sequence>& sequence) {
  const std::string name = family + "/" + sequence->name + "/" + Contender::name;
  benchmark::RegisterBenchmark(name.c_str(), [sequence](benchmark::State& state) {
    replay_sequence<Contender>(state, *sequence);
  });
}

}  // namespace cairn::bench
