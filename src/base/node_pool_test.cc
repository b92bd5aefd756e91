#include "base/node_pool.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

namespace cairn {
namespace {

struct alignas(64) Node {
  explicit Node(std::uint64_t n = 0) : number(n), copy(n) {}
  std::uint64_t number;
  std::uint64_t copy;
};

bool is_aligned_as_a_node(const Node& node) {
  return reinterpret_cast<std::uintptr_t>(&node) % alignof(Node) == 0;
}

TEST(NodePool, NodesNeverMove) {
  NodePool<Node> pool;
  std::vector<Node*> nodes;
  for (std::uint64_t n = 0; n < 2000; ++n) nodes.push_back(&pool.make(n));
  for (std::uint64_t n = 0; n < nodes.size(); ++n) {
    EXPECT_EQ(nodes[n]->number, n);
    EXPECT_EQ(nodes[n]->copy, n);
    EXPECT_TRUE(is_aligned_as_a_node(*nodes[n]));
  }
}

TEST(NodePool, ASlotThatWasGivenBackIsUsedAgainLastFirst) {
  NodePool<Node> pool;
  Node* a = &pool.make(1U);
  Node* b = &pool.make(2U);
  pool.make(3U);
  pool.give_back(*a);
  pool.give_back(*b);
  EXPECT_EQ(&pool.make(4U), b);
  EXPECT_EQ(&pool.make(5U), a);
}

TEST(NodePool, AReusedSlotHoldsANewNode) {
  NodePool<Node> pool;
  pool.give_back(pool.make(9U));
  EXPECT_EQ(pool.make().number, 0U);
}

TEST(NodePool, ReserveMakesRoomOnceForAsManyAsAreAsked) {
  NodePool<Node> pool;
  pool.reserve(600);
  Node* first = &pool.make();
  pool.give_back(*first);
  pool.reserve(600);  // There is room already, so the free list is as it was.
  EXPECT_EQ(&pool.make(), first);
  pool.give_back(*first);
  pool.reserve(100000);
  EXPECT_NE(&pool.make(), first);  // What was added stands before it.
}

TEST(NodePool, ReserveCountsOnlyWhatIsFree) {
  NodePool<Node> pool;
  pool.reserve(256);
  std::set<Node*> live;
  for (int i = 0; i < 256; ++i) live.insert(&pool.make());
  pool.reserve(1);
  EXPECT_TRUE(live.insert(&pool.make()).second);
}

// A model: no two live nodes share a slot, and each keeps what was put in it.
TEST(NodePool, LiveNodesNeverShareASlot) {
  NodePool<Node> pool;
  std::mt19937 random(1);
  std::vector<Node*> live;
  std::set<Node*> slots;
  for (std::uint64_t step = 0; step < 20000; ++step) {
    if (live.empty() || random() % 100 < 52) {
      Node& node = pool.make(step);
      ASSERT_TRUE(slots.insert(&node).second) << step;
      live.push_back(&node);
      continue;
    }
    std::swap(live[random() % live.size()], live.back());
    ASSERT_EQ(live.back()->number, live.back()->copy);
    slots.erase(live.back());
    pool.give_back(*live.back());
    live.pop_back();
  }
}

}  // namespace
}  // namespace cairn
