#include <algorithm>
#include <cstdint>
#include <string>

#include "heap/free_index.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

constexpr std::size_t bins_per_word = 64;

bool all_empty(const FreeIndex& index, std::size_t first_bin, std::size_t end_bin) {
  std::uintptr_t any = 0;
  for (std::size_t bin = first_bin; bin < end_bin; ++bin) {
    any |= reinterpret_cast<std::uintptr_t>(index.root(bin));
  }
  return any == 0;
}

// Walks a bin's tree in order. Gives the last block, which the next bin's first one must follow.
const Block* check_tree(const Block* root, std::size_t bin, const Block* last) {
  if (root == nullptr) return last;
  last = check_tree(root->index_left, bin, last);
  expect(FreeIndex::bin_of(root->size) == bin, free_index_ordered,
         [&] { return describe(*root) + " is in bin " + std::to_string(bin); });
  expect(last == nullptr || FreeIndex::precedes(*last, *root), free_index_ordered,
         [&] { return describe(*root) + " follows " + describe(*last); });
  return check_tree(root->index_right, bin, root);
}

const Block* check_word(const FreeIndex& index, std::size_t word, const Block* last) {
  expect(index.summary_bit(word) != index.word_is_empty(word), free_index_bitmap,
         [&] { return "summary of word " + std::to_string(word); });
  const std::size_t first_bin = word * bins_per_word;
  const std::size_t end_bin = std::min(first_bin + bins_per_word, FreeIndex::bin_count);
  if (index.word_is_empty(word) && all_empty(index, first_bin, end_bin)) return last;
  for (std::size_t bin = first_bin; bin < end_bin; ++bin) {
    expect(index.bit(bin) == (index.root(bin) != nullptr), free_index_bitmap,
           [&] { return "bit of bin " + std::to_string(bin); });
    last = check_tree(index.root(bin), bin, last);
  }
  return last;
}

}  // namespace

void check(const FreeIndex& index, Cost dearest) {
  if (dearest < Cost::structure) return;
  const Block* last = nullptr;
  for (std::size_t word = 0; word < FreeIndex::word_count; ++word) {
    last = check_word(index, word, last);
  }
}

}  // namespace cairn::invariants
