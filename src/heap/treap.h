// A binary search tree of free blocks in the order of a FreeIndex, balanced by random priorities
// (Seidel and Aragon, "Randomized search trees", 1996): the priority is a hash of the block's
// address, so that the shape depends on the blocks alone. The links are in the blocks; nothing is
// allocated.
#pragma once

#include "heap/block.h"
#include "heap/free_order.h"

namespace cairn::treap {

// One tree has one order, which is passed with each call that needs it.
void insert(Block*& root, Block& block, FreeOrder order);
// REQUIRES: `block` is in the tree.
void erase(Block*& root, Block& block, FreeOrder order);

Block* first(Block* root);
Block* last(Block* root);
// The first of at least `size`, or null.
Block* first_not_below(Block* root, Bytes size);
// The neighbour in order, or null; `block` itself need not be in the tree.
Block* after(Block* root, const Block& block, FreeOrder order);
Block* before(Block* root, const Block& block, FreeOrder order);

}  // namespace cairn::treap
