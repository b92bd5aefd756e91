// The tree of free blocks against a std::set.
#include "heap/treap.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "heap/blocks_in_test.h"

namespace cairn {
namespace {

using namespace literals;

constexpr FreeOrder order{BestFitTie::segment};

std::size_t depth(const Block* root) {
  if (root == nullptr) return 0;
  return 1 + std::max(depth(root->index_left), depth(root->index_right));
}

TEST(Treap, AnEmptyTreeAnswersNull) {
  BlockMaker maker(1);
  EXPECT_EQ(treap::first(nullptr), nullptr);
  EXPECT_EQ(treap::last(nullptr), nullptr);
  EXPECT_EQ(treap::first_not_below(nullptr, 0_B), nullptr);
  EXPECT_EQ(treap::after(nullptr, maker.make(512_B, 0), order), nullptr);
  EXPECT_EQ(treap::before(nullptr, maker.make(512_B, 0), order), nullptr);
}

TEST(Treap, NeighboursOfABlockThatIsNotInTheTree) {
  BlockMaker maker(1);
  Block* root = nullptr;
  Block& low = maker.make(512_B, 0);
  Block& high = maker.make(1536_B, 0);
  treap::insert(root, low, order);
  treap::insert(root, high, order);
  const Block& between = maker.make(1024_B, 0);
  EXPECT_EQ(treap::before(root, between, order), &low);
  EXPECT_EQ(treap::after(root, between, order), &high);
}

// A search tree without balance would be a list here.
TEST(Treap, SortedInsertionStaysShallow) {
  BlockMaker maker(1);
  Block* root = nullptr;
  for (std::uint64_t i = 1; i <= 4096; ++i) {
    Block& block = maker.make(Bytes{i * 512}, 0);
    block.ptr = Address{i << 21};
    treap::insert(root, block, order);
  }
  EXPECT_LT(depth(root), 60U);
}

void compare(Block* root, const IndexOracle& oracle, const Block& block, Bytes size) {
  ASSERT_EQ(treap::first(root), oracle.smallest());
  ASSERT_EQ(treap::last(root), oracle.largest());
  ASSERT_EQ(treap::after(root, block, order), oracle.after(block));
  ASSERT_EQ(treap::before(root, block, order), oracle.before(block));
  for (const Bytes wanted : {size - 1_B, size, size + 1_B}) {
    ASSERT_EQ(treap::first_not_below(root, wanted), oracle.first_not_below(wanted));
  }
}

TEST(Treap, AgreesWithASet) {
  BlockMaker maker(2);
  std::vector<Bytes> sizes;
  for (std::uint64_t i = 1; i <= 40; ++i) sizes.push_back(Bytes{i * 512});
  Block* root = nullptr;
  IndexOracle oracle{order.tie};
  std::vector<Block*> in;
  for (int step = 0; step < 20000; ++step) {
    const bool grows = step / 2000 % 2 == 0;
    if (in.empty() || maker.below(10) < (grows ? 7U : 3U)) {
      in.push_back(&maker.make_any(sizes));
      treap::insert(root, *in.back(), order);
      oracle.insert(*in.back());
    } else {
      std::swap(in[maker.below(in.size())], in.back());
      treap::erase(root, *in.back(), order);
      oracle.erase(*in.back());
      compare(root, oracle, *in.back(), in.back()->size);  // It need not be in the tree.
      in.pop_back();
    }
    if (in.empty()) continue;
    compare(root, oracle, *in[maker.below(in.size())], sizes[maker.below(sizes.size())]);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << "step " << step;
  }
}

}  // namespace
}  // namespace cairn
