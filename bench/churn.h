// The work that a hit is measured on: a number of live blocks of the sizes of training, of which
// one after another, the victim, is freed and its size allocated again. After the first filling the
// cache always has what is asked for. The same for every allocator and in every run: all draws are
// seeded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/training_sizes.h"

namespace cairn::bench {

enum class Victims {
  same,   // One block over and over.
  random  // Any live block, each time.
};

// An Allocator has `void* allocate(std::size_t)`, `void free(void*)` and `std::uint64_t misses()`,
// the number of times that it asked its driver for memory.
template <class Allocator>
class Churn {
 public:
  Churn(Allocator& allocator, std::size_t live_blocks) : allocator_(allocator) {
    const TrainingSizes sizes;
    for (std::size_t i = 0; i < live_blocks; ++i) {
      const std::size_t size_bytes = sizes.draw(random_);
      blocks_.push_back({allocator_.allocate(size_bytes), size_bytes});
    }
    // Not the order of a first filling, but of a program that runs.
    for (const std::uint32_t victim : draw(Victims::random, live_blocks)) replace(victim);
  }
  ~Churn() {
    for (const Block& block : blocks_) allocator_.free(block.address);
  }
  Churn(const Churn&) = delete;
  Churn& operator=(const Churn&) = delete;

  std::vector<std::uint32_t> draw(Victims victims, std::size_t count) {
    std::vector<std::uint32_t> drawn(count, static_cast<std::uint32_t>(blocks_.size() / 2));
    if (victims == Victims::same) return drawn;
    for (std::uint32_t& victim : drawn) {
      victim = static_cast<std::uint32_t>(random_() % blocks_.size());
    }
    return drawn;
  }

  // The pair that is measured.
  void replace(std::uint32_t victim) {
    Block& block = blocks_[victim];
    allocator_.free(block.address);
    block.address = allocator_.allocate(block.size_bytes);
  }

 private:
  struct Block {
    void* address;
    std::size_t size_bytes;
  };

  Allocator& allocator_;
  std::mt19937_64 random_{20'741};
  std::vector<Block> blocks_;
};

}  // namespace cairn::bench
