// The table of live blocks against a std::unordered_map, and its probe chains by hand.
#include "heap/live_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <unordered_map>
#include <vector>

namespace cairn {
namespace {

class LiveTableTest : public testing::Test {
 protected:
  Block& insert(Address address) {
    Block& block = blocks_.emplace_back();
    block.ptr = address;
    table_.reserve(1);
    table_.insert(block);
    return block;
  }

  // Addresses whose entry belongs in this slot of an empty table.
  static std::vector<Address> at_home_in(std::size_t slot, std::size_t count) {
    std::vector<Address> found;
    for (std::uint64_t granule = 1; found.size() < count; ++granule) {
      Block block;
      block.ptr = Address{granule * 512};
      LiveTable one;
      one.insert(block);
      if (one.slot(slot) != nullptr) found.push_back(block.ptr);
    }
    return found;
  }

  LiveTable table_;
  std::deque<Block> blocks_;
};

TEST_F(LiveTableTest, FindsWhatIsInItAndNothingElse) {
  EXPECT_EQ(table_.find(Address{0x1000}), nullptr);
  Block& block = insert(Address{0x1000});
  EXPECT_EQ(table_.find(Address{0x1000}), &block);
  EXPECT_EQ(table_.find(Address{0x1200}), nullptr);
  EXPECT_EQ(table_.find(Address{0}), nullptr);
  EXPECT_EQ(table_.size(), 1U);
  table_.erase(block);
  EXPECT_EQ(table_.find(Address{0x1000}), nullptr);
  EXPECT_EQ(table_.size(), 0U);
}

TEST_F(LiveTableTest, AnAddressWithinTheSameGranuleIsAnother) {
  insert(Address{0x1000});
  EXPECT_EQ(table_.find(Address{0x1001}), nullptr);
  EXPECT_EQ(table_.find(Address{0x11ff}), nullptr);
}

TEST_F(LiveTableTest, ItIsNeverMoreThanHalfFull) {
  const std::size_t before = table_.capacity();
  for (std::size_t i = 0; i < before / 2; ++i) insert(Address{(i + 1) * 512});
  EXPECT_EQ(table_.capacity(), before);
  insert(Address{std::uint64_t{1} << 40});
  EXPECT_EQ(table_.capacity(), before * 2);
  for (const Block& block : blocks_) EXPECT_EQ(table_.find(block.ptr), &block);
}

TEST_F(LiveTableTest, ReserveMakesRoomForAsManyAsAreAsked) {
  table_.reserve(1000);
  const std::size_t capacity = table_.capacity();
  EXPECT_GE(capacity, 2000U);
  EXPECT_LT(capacity, 4000U);
  for (std::uint64_t i = 1; i <= 1000; ++i) {
    Block& block = blocks_.emplace_back();
    block.ptr = Address{i * 512};
    table_.insert(block);
  }
  EXPECT_EQ(table_.capacity(), capacity);
}

// Four entries of one home, and two of the next slot that they push on, removed in every order. The
// last slot's chain goes on at the first.
void remove_in_every_order(const std::vector<Address>& chain) {
  std::vector<std::size_t> order(chain.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    std::vector<Block> blocks(chain.size());
    LiveTable table;
    for (std::size_t i = 0; i < chain.size(); ++i) {
      blocks[i].ptr = chain[i];
      table.insert(blocks[i]);
    }
    for (std::size_t gone = 0; gone < order.size(); ++gone) {
      table.erase(blocks[order[gone]]);
      for (std::size_t i = 0; i < order.size(); ++i) {
        Block& block = blocks[order[i]];
        ASSERT_EQ(table.find(block.ptr), i > gone ? &block : nullptr);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_F(LiveTableTest, RemovalClosesTheProbeChain) {
  std::vector<Address> chain = at_home_in(20, 4);
  for (const Address address : at_home_in(21, 2)) chain.push_back(address);
  remove_in_every_order(chain);
}

TEST_F(LiveTableTest, ProbeChainsWrapAround) {
  const std::size_t last = LiveTable().capacity() - 1;
  std::vector<Address> chain = at_home_in(last, 3);
  for (const Address address : at_home_in(0, 2)) chain.push_back(address);
  chain.push_back(at_home_in(last - 1, 1).front());
  remove_in_every_order(chain);
}

TEST_F(LiveTableTest, AgreesWithAMap) {
  std::mt19937_64 random(7);
  std::unordered_map<std::uint64_t, Block*> oracle;
  std::vector<Block*> live;
  // Three ways in which drivers and splits lay out addresses.
  const std::array<std::uint64_t, 3> steps{512, std::uint64_t{2} << 20, std::uint64_t{1} << 40};
  for (int step = 0; step < 15000; ++step) {
    const bool grows = step / 5000 % 2 == 0;
    const std::uint64_t wanted = steps[random() % steps.size()] * (random() % 4000 + 1);
    if (live.empty() || random() % 10 < (grows ? 7U : 3U)) {
      if (oracle.count(wanted) != 0) continue;
      Block& block = insert(Address{wanted});
      oracle[wanted] = &block;
      live.push_back(&block);
    } else {
      std::swap(live[random() % live.size()], live.back());
      table_.erase(*live.back());
      oracle.erase(live.back()->ptr.value);
      live.pop_back();
    }
    ASSERT_EQ(table_.size(), oracle.size());
    const auto found = oracle.find(wanted);
    ASSERT_EQ(table_.find(Address{wanted}), found == oracle.end() ? nullptr : found->second);
    if (step % 1000 != 0) continue;
    for (const auto& [address, block] : oracle) ASSERT_EQ(table_.find(Address{address}), block);
  }
}

}  // namespace
}  // namespace cairn
