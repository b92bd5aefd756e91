// Each wrong that an allocator can do with memory, done on purpose, is seen and named.
#include "simulator/judge.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "simulator/simulated_gpu.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

class JudgeTest : public testing::Test {
 protected:
  Address allocate(Bytes size, DeviceIndex device = 0) { return *gpu.malloc(device, size); }
  void hand_out(DeviceIndex device, Span range) {
    gpu.hand_out(device, range, gpu.identify({device, 0}));
  }
  void take_back(DeviceIndex device, Span range) { gpu.take_back(device, range, {}); }
  std::vector<ViolationKind> seen() const {
    std::vector<ViolationKind> kinds;
    for (const Violation& violation : gpu.violations()) kinds.push_back(violation.kind);
    return kinds;
  }
  bool last_message_has(const std::string& words) const {
    return gpu.violations().back().message.find(words) != std::string::npos;
  }

  SimulatedGpu gpu{{DeviceOptions{.adjacent = true}, {}}};
};

TEST_F(JudgeTest, SeesNothingWrongInRangesThatTileAnAllocation) {
  const Address a = allocate(4_MiB);
  hand_out(0, {a, 1_MiB});
  hand_out(0, {a + 3_MiB, 1_MiB});
  hand_out(0, {a + 1_MiB, 2_MiB});
  EXPECT_EQ(gpu.overlaps(0), 0u);
  take_back(0, {a + 1_MiB, 2_MiB});
  hand_out(0, {a + 1_MiB, 1_MiB});
  take_back(0, {a, 1_MiB});
  take_back(0, {a + 3_MiB, 1_MiB});
  take_back(0, {a + 1_MiB, 1_MiB});
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_TRUE(seen().empty());
}

TEST_F(JudgeTest, MemoryThatWasNeverOut) {
  hand_out(0, {Address{0x500000000000}, 512_B});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_out});
  EXPECT_TRUE(last_message_has("512 bytes at 0x500000000000 on device 0"));
}

TEST_F(JudgeTest, MemoryThatTheDriverHasBack) {
  const Address a = allocate(2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  hand_out(0, {a, 512_B});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_out});
}

TEST_F(JudgeTest, MemoryOfAnotherDevice) {
  const Address a = allocate(2_MiB, 1);
  hand_out(0, {a, 512_B});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_out});
}

TEST_F(JudgeTest, ARangeThatPassesTheEndOfItsAllocation) {
  const Address a = allocate(3_MiB);  // The driver rounds, but promised no more than this.
  hand_out(0, {a + 2_MiB, 1_MiB + 1_B});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_out});
}

TEST_F(JudgeTest, ARangeOverTwoNeighbouringAllocations) {
  const Address a = allocate(2_MiB);
  ASSERT_EQ(allocate(2_MiB), a + 2_MiB);
  hand_out(0, {a + 1_MiB, 2_MiB});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_out});
}

TEST_F(JudgeTest, MemoryHandedOutTwice) {
  const Address a = allocate(2_MiB);
  hand_out(0, {a, 1_MiB});
  hand_out(0, {Address{a.value + (1 << 20) - 1}, 512_B});
  EXPECT_EQ(seen(), std::vector{ViolationKind::overlap});
  EXPECT_TRUE(last_message_has("1048576 bytes at 0x100000000000"));
  EXPECT_EQ(gpu.overlaps(0), 1u);
  EXPECT_EQ(gpu.overlaps(1), 0u);
}

TEST_F(JudgeTest, ARangeThatOverlapsOneThatOverlappedAnother) {
  const Address a = allocate(4_MiB);
  hand_out(0, {a, 1_MiB});
  hand_out(0, {a + 512_KiB, 1_MiB});
  hand_out(0, {a + 1_MiB, 1_MiB});
  EXPECT_EQ(seen(), std::vector(2, ViolationKind::overlap));
  EXPECT_TRUE(last_message_has("overlaps the 1048576 bytes at 0x100000080000"));
}

TEST_F(JudgeTest, OverlapsAreThePairsOfTheMoment) {
  const Address a = allocate(4_MiB);
  const Span low{a, 1_MiB};
  const Span middle{a + 1_MiB, 1_MiB};
  const Span across{a + 512_KiB, 1_MiB};
  hand_out(0, low);
  hand_out(0, middle);
  hand_out(0, across);
  EXPECT_EQ(gpu.overlaps(0), 2u);
  hand_out(0, across);
  EXPECT_EQ(gpu.overlaps(0), 5u);
  take_back(0, low);
  EXPECT_EQ(gpu.overlaps(0), 3u);
  take_back(0, across);
  EXPECT_EQ(gpu.overlaps(0), 1u);
  take_back(0, middle);
  EXPECT_EQ(gpu.overlaps(0), 0u);
  hand_out(0, low);  // Overlaps the one that is left.
  EXPECT_EQ(gpu.overlaps(0), 1u);
}

TEST_F(JudgeTest, MemoryThatGoesBackWhileTheProgramHoldsSomeOfIt) {
  const Address a = allocate(4_MiB);
  hand_out(0, {a + 3_MiB, 512_B});
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(seen(), std::vector{ViolationKind::freed_while_held});
  EXPECT_TRUE(last_message_has("4194304 bytes at 0x100000000000"));
  EXPECT_TRUE(last_message_has("512 bytes at 0x100000300000"));
}

TEST_F(JudgeTest, ANeighbourThatIsHeldDoesNotMatter) {
  const Address a = allocate(2_MiB);
  const Address b = allocate(2_MiB);
  const Address c = allocate(2_MiB);
  hand_out(0, {a, 2_MiB});
  hand_out(0, {c, 2_MiB});
  ASSERT_TRUE(gpu.free(0, b));
  EXPECT_TRUE(seen().empty());
}

TEST_F(JudgeTest, MemoryThatGoesBackTwiceOrNeverWasOutOrElsewhere) {
  const Address a = allocate(2_MiB);
  const Address b = allocate(2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_FALSE(gpu.free(0, a));
  EXPECT_TRUE(last_message_has("given back before"));
  EXPECT_FALSE(gpu.free(0, Address{0x500000000000}));
  EXPECT_TRUE(last_message_has("never given out"));
  EXPECT_FALSE(gpu.free(0, Address{std::numeric_limits<std::uint64_t>::max()}));
  EXPECT_TRUE(last_message_has("never given out"));
  EXPECT_FALSE(gpu.free(0, b + 512_B));
  EXPECT_TRUE(last_message_has("which is in the 2097152 bytes at 0x100000200000"));
  EXPECT_FALSE(gpu.free(1, b));
  EXPECT_TRUE(last_message_has("on device 0"));
  EXPECT_EQ(seen(), std::vector(5, ViolationKind::bad_free));
  EXPECT_TRUE(gpu.free(0, b));
}

TEST_F(JudgeTest, TakingBackWhatIsNotHeld) {
  const Address a = allocate(2_MiB);
  hand_out(0, {a, 1_MiB});
  take_back(0, {a, 512_KiB});
  EXPECT_EQ(seen(), std::vector{ViolationKind::not_held});
  take_back(0, {a, 1_MiB});
  take_back(0, {a, 1_MiB});
  EXPECT_EQ(seen().size(), 2u);
}

TEST_F(JudgeTest, KeepsUpWithAHundredThousandRanges) {
  constexpr unsigned count = 100'000;
  const Address a = allocate(512_B * count);
  for (unsigned i = 0; i < count; ++i) hand_out(0, {a + 512_B * ((i * 7919u) % count), 512_B});
  for (unsigned i = 0; i < count; ++i) take_back(0, {a + 512_B * i, 512_B});
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_TRUE(seen().empty());
}

}  // namespace
}  // namespace cairn::simulator
