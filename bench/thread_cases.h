// Hits of several host threads. Times are by the wall clock, and of one pair of all threads
// together: two threads that do not hinder each other halve it.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/sequence.h"
#include "bench/training_sizes.h"

namespace cairn::bench {

enum class Sharing {
  one_stream,     // All threads use one stream of one allocator.
  two_streams,    // Each has its own; one thread alone uses both in turn.
  two_allocators  // Each has an allocator of its own: nothing is shared.
};

inline const char* to_string(Sharing sharing) {
  switch (sharing) {
    case Sharing::one_stream:
      return "one_stream";
    case Sharing::two_streams:
      return "two_streams";
    case Sharing::two_allocators:
      return "two_allocators";
  }
  return "";
}

struct ThreadCase {
  int threads = 1;
  Sharing sharing = Sharing::one_stream;
  int work = 0;  // Steps of other work between two pairs, about a nanosecond each.
};

// What a thread does beside allocating.
inline void work_a_while(int steps) {
  std::uint64_t x = 1;
  for (int i = 0; i < steps; ++i) {
    x = x * 6364136223846793005u + 1;
    benchmark::DoNotOptimize(x);
  }
}

// The live blocks of one thread.
template <class Contender>
class ThreadBlocks {
 public:
  ThreadBlocks(Contender& contender, std::uint16_t first_stream, std::uint16_t streams)
      : contender_(contender) {
    const TrainingSizes sizes;
    std::mt19937_64 random(first_stream);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      Block& block = blocks_[i];
      block.size_bytes = sizes.draw(random);
      block.stream = stream_numbered(static_cast<std::uint16_t>(first_stream + i % streams));
      block.address = contender_.allocate(block.size_bytes, block.stream);
    }
  }
  ~ThreadBlocks() {
    for (const Block& block : blocks_) contender_.free(block.address);
  }
  ThreadBlocks(const ThreadBlocks&) = delete;
  ThreadBlocks& operator=(const ThreadBlocks&) = delete;

  void replace_next() {
    Block& block = blocks_[next_++ % blocks_.size()];
    contender_.free(block.address);
    block.address = contender_.allocate(block.size_bytes, block.stream);
  }

 private:
  struct Block {
    void* address = nullptr;
    std::size_t size_bytes = 0;
    Stream stream = nullptr;
  };

  Contender& contender_;
  std::array<Block, 512> blocks_;
  std::size_t next_ = 0;
};

template <class Contender>
void measure_threads(benchmark::State& state, const ThreadCase& what,
                     std::array<Contender, 2>& contenders) {
  const bool is_second = state.thread_index() % 2 == 1;
  const bool has_own = what.sharing == Sharing::two_allocators && is_second;
  const bool is_elsewhere = what.sharing == Sharing::two_streams && is_second;
  const bool uses_both = what.sharing == Sharing::two_streams && what.threads == 1;
  const std::uint16_t first_stream = is_elsewhere ? 2 : 1;
  ThreadBlocks<Contender> blocks(contenders[has_own ? 1 : 0], first_stream, uses_both ? 2 : 1);
  for (auto _ : state) {
    blocks.replace_next();
    work_a_while(what.work);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

template <class Contender>
void register_thread_case(const ThreadCase& what) {
  const std::string name = "threads/" + std::to_string(what.threads) + "/" +
                           to_string(what.sharing) + (what.work > 0 ? "_and_work/" : "/") +
                           Contender::name;
  const auto contenders = std::make_shared<std::array<Contender, 2>>();
  benchmark::RegisterBenchmark(
      name.c_str(),
      [what, contenders](benchmark::State& state) { measure_threads(state, what, *contenders); })
      ->Threads(what.threads)
      ->UseRealTime();
}

template <class Contender>
void register_threads() {
  constexpr int microsecond = 1000;
  for (const int threads : {1, 2}) {
    register_thread_case<Contender>({threads, Sharing::one_stream});
    register_thread_case<Contender>({threads, Sharing::two_streams});
    register_thread_case<Contender>({threads, Sharing::two_streams, microsecond});
    register_thread_case<Contender>({threads, Sharing::two_allocators});
  }
}

}  // namespace cairn::bench
