// XLA's benchmarks of its allocator, by their parameters: blocks of 1 KiB, no GPU.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace cairn::bench {

inline constexpr std::size_t xla_block_bytes = 1024;

// A block is allocated and freed.
template <class Contender>
void measure_allocate_and_free(benchmark::State& state, Contender& contender) {
  for (auto _ : state) contender.free(contender.allocate(xla_block_bytes));
}

// So many are allocated, then freed; the time of one.
template <class Contender>
void measure_batch_then_free(benchmark::State& state, std::size_t count) {
  const auto contender = std::make_unique<Contender>();
  std::vector<void*> blocks(count);
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(count))) {
    for (void*& block : blocks) block = contender->allocate(xla_block_bytes);
    for (void* block : blocks) contender->free(block);
  }
}

template <class Contender>
void register_xla() {
  const std::string end = std::string("/") + Contender::name;
  for (const int threads : {1, 2, 4, 8, 16}) {
    const auto contender = std::make_shared<Contender>();
    const std::string name = "xla/alloc_free/" + std::to_string(threads) + "_threads" + end;
    benchmark::RegisterBenchmark(
        name.c_str(),
        [contender](benchmark::State& state) { measure_allocate_and_free(state, *contender); })
        ->Threads(threads)
        ->UseRealTime();
  }
  for (const std::size_t count : {std::size_t{100}, std::size_t{1000}}) {
    const std::string name = "xla/batch_then_free/" + std::to_string(count) + end;
    benchmark::RegisterBenchmark(name.c_str(), measure_batch_then_free<Contender>, count);
  }
}

}  // namespace cairn::bench
