// For tests of the structures that hold free blocks: blocks of chosen sizes, ages and addresses,
// and the order in which a free index must yield them, by a std::set.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <iterator>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "base/units.h"
#include "cairn/options.h"
#include "heap/block.h"

namespace cairn {

struct InOrder {
  BestFitTie tie;

  bool operator()(const Block* a, const Block* b) const { return key(a) < key(b); }
  std::tuple<Bytes, std::uint64_t, Address> key(const Block* block) const {
    return {block->size, tie == BestFitTie::segment ? block->registration_counter : 0, block->ptr};
  }
};

// What a free index must answer.
class IndexOracle {
 public:
  explicit IndexOracle(BestFitTie tie) : blocks_(InOrder{tie}) {}

  void insert(const Block& block) { blocks_.insert(&block); }
  void erase(const Block& block) { blocks_.erase(&block); }

  const Block* first_not_below(Bytes size) const {
    Block key;  // Stands before every block of its size.
    key.size = size;
    return at(blocks_.lower_bound(&key));
  }
  const Block* after(const Block& block) const { return at(blocks_.upper_bound(&block)); }
  const Block* before(const Block& block) const {
    const auto found = blocks_.lower_bound(&block);
    return found == blocks_.begin() ? nullptr : *std::prev(found);
  }
  const Block* smallest() const { return at(blocks_.begin()); }
  const Block* largest() const { return blocks_.empty() ? nullptr : *blocks_.rbegin(); }

 private:
  using Blocks = std::set<const Block*, InOrder>;
  const Block* at(Blocks::const_iterator i) const { return i == blocks_.end() ? nullptr : *i; }

  Blocks blocks_;
};

// Sizes on both sides of every border that an index may have: multiples of 512 around powers of
// two, around parts of a doubling, and around the last exact bin.
inline std::vector<Bytes> border_sizes() {
  std::set<Bytes> sizes;
  const auto add_around = [&](std::uint64_t count) {
    for (const std::uint64_t size : {count - 512, count, count + 512}) {
      if (size != 0 && size % 512 == 0) sizes.insert(Bytes{size});
    }
  };
  for (int bit = 9; bit < 63; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    add_around(power);
    for (const std::uint64_t part : {1U, 2U, 16U, 31U}) add_around(power + power / 32 * part);
  }
  add_around(0xfffffffffffffc00U);
  return {sizes.begin(), sizes.end()};
}

// Blocks with few distinct sizes and ages, so that ties are frequent. Addresses are distinct and in
// no order.
class BlockMaker {
 public:
  explicit BlockMaker(std::uint32_t seed) : random_(seed) {}

  Block& make(Bytes size, std::uint64_t age) {
    Block& block = blocks_.emplace_back();
    block.size = size;
    block.registration_counter = age;
    // An odd factor permutes the numbers below 2^31.
    block.ptr = Address{(blocks_.size() * 0x9e3779b1U % (std::uint64_t{1} << 31) + 1) * 512};
    return block;
  }
  Block& make_any(const std::vector<Bytes>& sizes) {
    return make(sizes[below(sizes.size())], below(3));
  }
  std::size_t below(std::size_t n) { return random_() % n; }

 private:
  std::mt19937_64 random_;
  std::deque<Block> blocks_;
};

}  // namespace cairn
