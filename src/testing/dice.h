// A source of choices that costs next to nothing to start: the same seed and the same calls give
// the same choices (SplitMix64: Steele, Lea and Flood, 2014).
//
// Not thread-safe.
#pragma once

#include <cstdint>

namespace cairn::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t draw() {
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    return mixed ^ (mixed >> 31);
  }
  // REQUIRES, here and below: the limit is not 0, the container is not empty.
  std::uint64_t below(std::uint64_t limit) { return draw() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class Container>
  const auto& pick(const Container& container) {
    return container[below(container.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace cairn::testing
