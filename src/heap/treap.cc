#include "heap/treap.h"

#include <cstdint>

namespace cairn::treap {
namespace {

std::uint64_t priority(const Block& block) {
  std::uint64_t x = block.ptr.value * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 32);
}

// Parts a tree into what stands before `pivot` and what stands after it: they become its children.
void split_below(Block& pivot, Block* root, FreeOrder order) {
  Block** low = &pivot.index_left;
  Block** high = &pivot.index_right;
  while (root != nullptr) {
    if (order.precedes(*root, pivot)) {
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

void insert(Block*& root, Block& block, FreeOrder order) {
  Block** place = &root;
  while (*place != nullptr && priority(**place) >= priority(block)) {
    place = order.precedes(block, **place) ? &(*place)->index_left : &(*place)->index_right;
  }
  split_below(block, *place, order);
  *place = &block;
}

void erase(Block*& root, Block& block, FreeOrder order) {
  Block** place = &root;
  while (*place != &block) {
    place = order.precedes(block, **place) ? &(*place)->index_left : &(*place)->index_right;
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

Block* after(Block* root, const Block& block, FreeOrder order) {
  Block* found = nullptr;
  while (root != nullptr) {
    if (order.precedes(block, *root)) {
      found = root;
      root = root->index_left;
    } else {
      root = root->index_right;
    }
  }
  return found;
}

Block* before(Block* root, const Block& block, FreeOrder order) {
  Block* found = nullptr;
  while (root != nullptr) {
    if (order.precedes(*root, block)) {
      found = root;
      root = root->index_right;
    } else {
      root = root->index_left;
    }
  }
  return found;
}

}  // namespace cairn::treap
