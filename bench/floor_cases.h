// The least that a pair of free and allocate takes that is thread-safe and finds a best fit: a lock
// taken twice, a look-up of the block by its address, and one of a free block by size. Nothing is
// split, merged or counted. Beside it stands hit/same_victim.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "base/mutex.h"
#include "heap/free_index.h"
#include "heap/live_table.h"

namespace cairn::bench {

class Floor {
 public:
  static constexpr std::size_t live_blocks = 1'000;

  Floor() {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.ptr = Address{0x7e0000000000 + i * 2 * size_.count};
      block.size = size_;
      live_.reserve(1);
      live_.insert(block);
    }
    free_.ptr = Address{0x7f0000000000};
    free_.size = size_;
    index_.insert(free_);
  }

  const Block* pair() {
    const Block* live = nullptr;
    {
      const std::lock_guard<Mutex> lock(mutex_);
      live = live_.find(blocks_[live_blocks / 2].ptr);
    }
    const std::lock_guard<Mutex> lock(mutex_);
    const Block* fit = index_.first_not_below(live->size);
    return fit;
  }

 private:
  const Bytes size_{std::size_t{64} << 10};
  Mutex mutex_;
  std::array<Block, live_blocks> blocks_;
  Block free_;
  LiveTable live_;
  FreeIndex index_{FreeOrder{}};
};

inline void measure_floor(benchmark::State& state) {
  const auto floor = std::make_unique<Floor>();
  for (auto _ : state) benchmark::DoNotOptimize(floor->pair());
}

inline void register_floor() {
  benchmark::RegisterBenchmark("floor/a_lock_and_two_look_ups/1000/cairn", measure_floor);
}

}  // namespace cairn::bench
