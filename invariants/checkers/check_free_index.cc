#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "heap/free_index.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

constexpr std::size_t bins_per_word = 64;

const Block* root_of(const FreeIndex& index, std::size_t bin) {
  return bin < FreeIndex::bin_count ? index.roots()[bin] : nullptr;
}

// Whether it is a whole word of bins, none of which has a root. There are some thousand bins and
// few blocks, so this is most of what a check costs: whole words are compared, not pointers.
bool all_empty(const FreeIndex& index, std::size_t first_bin) {
  static constexpr std::array<const Block*, bins_per_word> no_roots{};
  if (first_bin + bins_per_word > FreeIndex::bin_count) return false;
  const void* roots = static_cast<const void*>(&index.roots()[first_bin]);
  return std::memcmp(roots, static_cast<const void*>(no_roots.data()), sizeof(no_roots)) == 0;
}

// Where in a tree: what stands there comes after `low` and before `high`, null being no bound.
struct Position {
  FreeOrder order;
  std::size_t bin;
  const Block* low = nullptr;
  const Block* high = nullptr;
};

// Each step down narrows the position, so a walk that stops at the first block out of order ends
// even where the links form a ring.
void check_tree(const Block* root, const Position& position, std::vector<const Block*>& blocks) {
  if (root == nullptr) return;
  const bool ordered = (position.low == nullptr || position.order.precedes(*position.low, *root)) &&
                       (position.high == nullptr || position.order.precedes(*root, *position.high));
  expect(ordered && FreeIndex::bin_of(root->size) == position.bin, free_index_ordered,
         [&] { return describe(*root) + " is misplaced in bin " + std::to_string(position.bin); });
  if (!ordered) return;
  check_tree(root->index_left, {position.order, position.bin, position.low, root}, blocks);
  blocks.push_back(root);
  check_tree(root->index_right, {position.order, position.bin, root, position.high}, blocks);
}

void check_word(const FreeIndex& index, std::size_t word, std::vector<const Block*>& blocks) {
  expect(index.summary_bit(word) != index.word_is_empty(word), free_index_bitmap,
         [&] { return "summary of word " + std::to_string(word); });
  const std::size_t first_bin = word * bins_per_word;
  if (index.word_is_empty(word) && all_empty(index, first_bin)) return;
  for (std::size_t bin = first_bin; bin < first_bin + bins_per_word; ++bin) {
    const Block* root = root_of(index, bin);
    expect(index.bit(bin) == (root != nullptr), free_index_bitmap,
           [&] { return "bit of bin " + std::to_string(bin); });
    check_tree(root, {index.order(), bin}, blocks);
  }
}

}  // namespace

std::vector<const Block*> check_free_index(const FreeIndex& index) {
  std::vector<const Block*> blocks;
  for (std::size_t word = 0; word < FreeIndex::word_count; ++word) check_word(index, word, blocks);
  constexpr std::size_t end_of_summary =
      (FreeIndex::word_count + bins_per_word - 1) / bins_per_word * bins_per_word;
  for (std::size_t word = FreeIndex::word_count; word < end_of_summary; ++word) {
    expect(!index.summary_bit(word), free_index_bitmap,
           [&] { return "summary of a word that there is not, " + std::to_string(word); });
  }
  return blocks;
}

void check(const FreeIndex& index, Cost dearest) {
  if (dearest >= Cost::structure) check_free_index(index);
}

}  // namespace cairn::invariants
