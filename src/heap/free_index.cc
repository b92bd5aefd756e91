#include "heap/free_index.h"

#include "heap/treap.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

// What bits of a word are left at and above, or below, a position.
constexpr std::uint64_t from_bit(std::size_t bit) { return ~std::uint64_t{0} << bit; }
constexpr std::uint64_t below_bit(std::size_t bit) { return (std::uint64_t{1} << bit) - 1; }
constexpr std::size_t lowest(std::uint64_t word) {
  return static_cast<std::size_t>(std::countr_zero(word));
}
constexpr std::size_t highest(std::uint64_t word) {
  return static_cast<std::size_t>(std::bit_width(word)) - 1;
}

}  // namespace

void FreeIndex::insert(Block& block) {
  CAIRN_AUDIT(*this);
  const std::size_t bin = bin_of(block.size);
  if (roots_[bin] != nullptr) return treap::insert(roots_[bin], block, order_);
  roots_[bin] = &block;
  block.index_left = block.index_right = nullptr;
  words_[bin / 64] |= std::uint64_t{1} << (bin % 64);
  summary_ |= std::uint64_t{1} << (bin / 64);
}

void FreeIndex::erase(Block& block) {
  CAIRN_AUDIT(*this);
  const std::size_t bin = bin_of(block.size);
  const bool is_alone = block.index_left == nullptr && block.index_right == nullptr;
  if (roots_[bin] != &block || !is_alone) return treap::erase(roots_[bin], block, order_);
  roots_[bin] = nullptr;
  words_[bin / 64] &= ~(std::uint64_t{1} << (bin % 64));
  if (words_[bin / 64] == 0) summary_ &= ~(std::uint64_t{1} << (bin / 64));
}

Block* FreeIndex::first_not_below(Bytes size) const {
  const std::size_t bin = bin_of(size);
  Block* const root = roots_[bin];
  if (root == nullptr) return leftmost_from(bin + 1);
  if (root->index_left == nullptr && root->size >= size) return root;
  Block* const fit = treap::first_not_below(root, size);
  return fit != nullptr ? fit : leftmost_from(bin + 1);
}

Block* FreeIndex::after(const Block& block) const {
  const std::size_t bin = bin_of(block.size);
  if (Block* next = treap::after(roots_[bin], block, order_)) return next;
  return leftmost_from(bin + 1);
}

Block* FreeIndex::before(const Block& block) const {
  const std::size_t bin = bin_of(block.size);
  if (Block* previous = treap::before(roots_[bin], block, order_)) return previous;
  const std::size_t lower = last_bin_below(bin);
  return lower == none ? nullptr : treap::last(roots_[lower]);
}

Block* FreeIndex::largest() const {
  const std::size_t bin = last_bin_below(bin_count);
  return bin == none ? nullptr : treap::last(roots_[bin]);
}

Block* FreeIndex::leftmost_from(std::size_t bin) const {
  const std::size_t found = first_bin_from(bin);
  return found == none ? nullptr : treap::first(roots_[found]);
}

std::size_t FreeIndex::first_bin_from(std::size_t bin) const {
  const std::size_t word = bin / 64;
  if (const std::uint64_t bits = words_[word] & from_bit(bin % 64)) return word * 64 + lowest(bits);
  const std::uint64_t later = summary_ & from_bit(word + 1);
  if (later == 0) return none;
  const std::size_t found = lowest(later);
  return found * 64 + lowest(words_[found]);
}

std::size_t FreeIndex::last_bin_below(std::size_t bin) const {
  const std::size_t word = bin / 64;
  if (const std::uint64_t bits = words_[word] & below_bit(bin % 64)) {
    return word * 64 + highest(bits);
  }
  const std::uint64_t earlier = summary_ & below_bit(word);
  if (earlier == 0) return none;
  const std::size_t found = highest(earlier);
  return found * 64 + highest(words_[found]);
}

}  // namespace cairn
