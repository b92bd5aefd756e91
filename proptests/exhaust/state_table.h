// The states that were seen: from the number that stands for a state to its index. Open addressing
// in two flat arrays, 12 bytes a slot. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cairn::exhaust {

class StateTable {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  StateTable() : numbers_(first_capacity), indices_(first_capacity, none) {}

  // The index of that state; none: it was not seen.
  std::uint32_t find(std::uint64_t number) const { return indices_[slot_of(number)]; }
  // REQUIRES: it was not seen.
  void insert(std::uint64_t number, std::uint32_t index) {
    if (++count_ * 4 > numbers_.size() * 3) grow();
    const std::size_t slot = slot_of(number);
    numbers_[slot] = number;
    indices_[slot] = index;
  }
  std::size_t bytes() const { return numbers_.size() * 12; }

 private:
  static constexpr std::size_t first_capacity = 1024;

  std::size_t slot_of(std::uint64_t number) const {
    const std::size_t mask = numbers_.size() - 1;
    std::size_t slot = number & mask;
    while (indices_[slot] != none && numbers_[slot] != number) slot = (slot + 1) & mask;
    return slot;
  }
  void grow() {
    std::vector<std::uint64_t> numbers(2 * numbers_.size());
    std::vector<std::uint32_t> indices(2 * indices_.size(), none);
    numbers.swap(numbers_);
    indices.swap(indices_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (indices[i] == none) continue;
      const std::size_t slot = slot_of(numbers[i]);
      numbers_[slot] = numbers[i];
      indices_[slot] = indices[i];
    }
  }

  std::vector<std::uint64_t> numbers_;
  std::vector<std::uint32_t> indices_;
  std::size_t count_ = 0;
};

}  // namespace cairn::exhaust
