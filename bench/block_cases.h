// What one operation costs that splits, merges, asks the driver, gives back, or waits for another
// stream. Each is timed in batches; the time is that of one operation.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bench/sequence.h"

namespace cairn::bench {

// Blocks of 512 bytes that fill a segment of 2 MiB.
inline constexpr std::size_t small_blocks = 4096;
inline constexpr std::size_t small_block_bytes = 512;
// Blocks that are a segment each.
inline constexpr std::size_t large_blocks = 256;
inline constexpr std::size_t large_block_bytes = std::size_t{32} << 20;

template <class Contender>
class Batch {
 public:
  Batch(std::size_t count, std::size_t size_bytes) : size_bytes_(size_bytes), blocks_(count) {}

  std::size_t size() const { return blocks_.size(); }
  void allocate() {
    for (void*& block : blocks_) block = contender_->allocate(size_bytes_);
  }
  // Every second one, the first of them `first`; or all.
  void free_from(std::size_t first, std::size_t step) {
    for (std::size_t i = first; i < blocks_.size(); i += step) contender_->free(blocks_[i]);
  }
  void free_all() { free_from(0, 1); }
  void release() { contender_->release(); }

 private:
  std::unique_ptr<Contender> contender_ = std::make_unique<Contender>();
  std::size_t size_bytes_;
  std::vector<void*> blocks_;
};

// Runs prepare(), act() and clean_up() for each batch, of which act() is timed and does so many
// operations.
template <class Prepare, class Act, class CleanUp>
void time_batches(benchmark::State& state, std::size_t operations, Prepare&& prepare, Act&& act,
                  CleanUp&& clean_up) {
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(operations))) {
    state.PauseTiming();
    prepare();
    state.ResumeTiming();
    act();
    state.PauseTiming();
    clean_up();
    state.ResumeTiming();
  }
}

// Each allocation cuts its block off the one free block; where an allocator does not split, it is a
// hit.
template <class Contender>
void measure_split(benchmark::State& state) {
  Batch<Contender> batch(small_blocks, small_block_bytes);
  time_batches(state, batch.size(), [] {}, [&] { batch.allocate(); }, [&] { batch.free_all(); });
}

// Each free merges with the free block below.
template <class Contender>
void measure_merge_one(benchmark::State& state) {
  Batch<Contender> batch(small_blocks, small_block_bytes);
  time_batches(state, batch.size(), [&] { batch.allocate(); }, [&] { batch.free_all(); }, [] {});
}

// Each free merges with both neighbours, which are free.
template <class Contender>
void measure_merge_two(benchmark::State& state) {
  Batch<Contender> batch(small_blocks, small_block_bytes);
  const auto prepare = [&] {
    batch.allocate();
    batch.free_from(0, 2);
  };
  time_batches(state, batch.size() / 2, prepare, [&] { batch.free_from(1, 2); }, [] {});
}

// Each allocation asks the driver for a segment.
template <class Contender>
void measure_miss(benchmark::State& state) {
  Batch<Contender> batch(large_blocks, large_block_bytes);
  const auto clean_up = [&] {
    batch.free_all();
    batch.release();
  };
  time_batches(state, batch.size(), [] {}, [&] { batch.allocate(); }, clean_up);
}

// Each segment goes back to the driver.
template <class Contender>
void measure_release(benchmark::State& state) {
  Batch<Contender> batch(large_blocks, large_block_bytes);
  const auto prepare = [&] {
    batch.allocate();
    batch.free_all();
  };
  time_batches(state, batch.size(), prepare, [&] { batch.release(); }, [] {});
}

// An allocation, record_stream() of another stream, and a free that records an event there; the
// next allocation queries the event and takes the block.
template <class Contender>
void measure_cross_stream(benchmark::State& state) {
  const auto contender = std::make_unique<Contender>();
  for (auto _ : state) {
    void* block = contender->allocate(std::size_t{1} << 20, stream_numbered(1));
    contender->record_stream(block, stream_numbered(2));
    contender->free(block);
  }
}

template <class Contender>
void register_blocks() {
  const auto add = [](const std::string& name, void (*measure)(benchmark::State&)) {
    benchmark::RegisterBenchmark((name + "/" + Contender::name).c_str(), measure);
  };
  add("block/split", measure_split<Contender>);
  add("block/merge_one", measure_merge_one<Contender>);
  add("block/merge_two", measure_merge_two<Contender>);
  add("block/miss", measure_miss<Contender>);
  add("block/release", measure_release<Contender>);
}

template <class Contender>
void register_cross_stream() {
  const std::string name = std::string("block/cross_stream/") + Contender::name;
  benchmark::RegisterBenchmark(name.c_str(), measure_cross_stream<Contender>);
}

}  // namespace cairn::bench
