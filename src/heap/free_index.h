// The free blocks of one stream in one pool, in FreeOrder. It gives
// the exact best fit: a bitmap finds the first bin that is not empty, and in each bin stands a
// treap. Bins are exact (one size) up to 1 MiB, where nearly all searches end, and above 32 to each
// doubling. Insertion and removal allocate nothing, so that a free cannot fail.
//
// Not thread-safe.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"
#include "heap/block.h"
#include "heap/free_order.h"

namespace cairn {

class FreeIndex {
 public:
  explicit FreeIndex(FreeOrder order) : order_(order) {}
  FreeIndex(const FreeIndex&) = delete;
  FreeIndex& operator=(const FreeIndex&) = delete;

  // REQUIRES: `block` is in no index; its size, registration_counter and ptr stay until erase().
  void insert(Block& block);
  // REQUIRES: `block` is in this index.
  void erase(Block& block);

  // The first block, in order, of at least `size`; null if there is none.
  Block* first_not_below(Bytes size) const;
  // The block that follows, or precedes, one that is in this index.
  Block* after(const Block& block) const;
  Block* before(const Block& block) const;
  Block* smallest() const { return leftmost_from(0); }
  Block* largest() const;

  // For checkers.
  static constexpr std::size_t exact_bins = 2049;  // Of 0, 512, ..., 1 MiB.
  static constexpr std::size_t bins_per_doubling = 32;
  static constexpr std::size_t bin_count = exact_bins + bins_per_doubling * 44;
  static constexpr std::size_t bin_of(Bytes size) {
    const std::uint64_t units = size.count / block_granularity.count;
    if (units < exact_bins) return units;
    const auto doubling = static_cast<std::size_t>(std::bit_width(units)) - 1;  // 11 at 1 MiB.
    const std::size_t part = (units >> (doubling - 5)) & (bins_per_doubling - 1);
    return exact_bins + (doubling - 11) * bins_per_doubling + part;
  }
  std::span<Block* const> roots() const { return roots_; }  // By bin.
  bool bit(std::size_t bin) const { return (words_[bin / 64] >> (bin % 64) & 1) != 0; }
  bool summary_bit(std::size_t word) const { return (summary_ >> word & 1) != 0; }
  static constexpr std::size_t word_count = (bin_count + 63) / 64;
  static_assert(word_count < 64,
                "the words have a bit each in one word, and there is one to spare");
  static_assert(bin_count % 64 != 0, "what comes after the last bin is in the last word");
  bool word_is_empty(std::size_t word) const { return words_[word] == 0; }

  FreeOrder order() const { return order_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  // The first that is not empty, or none. REQUIRES: bin <= bin_count.
  std::size_t first_bin_from(std::size_t bin) const;
  std::size_t last_bin_below(std::size_t bin) const;  // The last that is not empty, or none.
  Block* leftmost_from(std::size_t bin) const;

  FreeOrder order_;
  std::uint64_t summary_ = 0;                      // A bit a word that is not 0.
  std::array<std::uint64_t, word_count> words_{};  // A bit a bin that is not empty.
  std::array<Block*, bin_count> roots_{};
};

}  // namespace cairn
