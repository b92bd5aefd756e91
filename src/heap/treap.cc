#include "heap/treap.h"

#include <cstdint>

namespace cairn::treap {
namespace {

std::uint64_t priority(const Block& block) {
  std::uint64_t x = block.ptr.value * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 32);
}

// Parts a tree into what stands before `pivot` and what stands after it.
void split(Block* root, const Block& pivot, Block*& before, Block*& after) {
  Block** low = &before;
  Block** high = &after;
  while (root != nullptr) {
    if (precedes(*root, pivot)) {
      *low = root;
      low = &root->index_right;
      root = root->index_right;
    } else {
      *high = root;
      high = &root->index_left;
      root = root->index_left;
    }
  }
  *low = nullptr;
  *high = nullptr;
}

// Joins two trees of which all of `low` stands before all of `high`.
Block* join(Block* low, Block* high) {
  Block* root = nullptr;
  Block** place = &root;
  while (low != nullptr && high != nullptr) {
    if (priority(*low) >= priority(*high)) {
      *place = low;
      place = &low->index_right;
      low = low->index_right;
    } else {
      *place = high;
      place = &high->index_left;
      high = high->index_left;
    }
  }
  *place = low != nullptr ? low : high;
  return root;
}

}  // namespace

bool precedes(const Block& a, const Block& b) {
  if (a.size != b.size) return a.size < b.size;
  if (a.tie_rank != b.tie_rank) return a.tie_rank < b.tie_rank;
  return a.ptr < b.ptr;
}

void insert(Block*& root, Block& block) {
  Block** place = &root;
  while (*place != nullptr && priority(**place) >= priority(block)) {
    place = precedes(block, **place) ? &(*place)->index_left : &(*place)->index_right;
  }
  split(*place, block, block.index_left, block.index_right);
  *place = &block;
}

void erase(Block*& root, Block& block) {
  Block** place = &root;
  while (*place != &block) {
    place = precedes(block, **place) ? &(*place)->index_left : &(*place)->index_right;
  }
  *place = join(block.index_left, block.index_right);
}

Block* first(Block* root) {
  while (root != nullptr && root->index_left != nullptr) root = root->index_left;
  return root;
}

Block* last(Block* root) {
  while (root != nullptr && root->index_right != nullptr) root = root->index_right;
  return root;
}

Block* first_not_below(Block* root, Bytes size) {
  Block* found = nullptr;
  while (root != nullptr) {
    if (root->size < size) {
      root = root->index_right;
    } else {
      found = root;
      root = root->index_left;
    }
  }
  return found;
}

Block* after(Block* root, const Block& block) {
  Block* found = nullptr;
  while (root != nullptr) {
    if (precedes(block, *root)) {
      found = root;
      root = root->index_left;
    } else {
      root = root->index_right;
    }
  }
  return found;
}

Block* before(Block* root, const Block& block) {
  Block* found = nullptr;
  while (root != nullptr) {
    if (precedes(*root, block)) {
      found = root;
      root = root->index_right;
    } else {
      root = root->index_left;
    }
  }
  return found;
}

}  // namespace cairn::treap
