// What the simulated devices answer: where allocations land, when memory ends, what is refused.
#include "simulator/simulated_gpu.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator/simulated_driver.h"

namespace cairn::simulator {
namespace {

using namespace cairn::literals;

constexpr Address base{0x100000000000};

Address allocate(SimulatedGpu& gpu, Bytes size, DeviceIndex device = 0) {
  const auto address = gpu.malloc(device, size);
  EXPECT_TRUE(address);
  return address ? *address : Address{0};
}

void expect_refused(const Result<Done, std::string>& result, const std::string& because) {
  ASSERT_TRUE(result.failed());
  EXPECT_NE(result.error().find(because), std::string::npos) << result.error();
}

TEST(SimulatedGpu, EachDeviceStartsAtItsOwnAddressAndLeavesGaps) {
  SimulatedGpu gpu({DeviceOptions{}, {}});
  EXPECT_EQ(allocate(gpu, 1_B), base);
  EXPECT_EQ(allocate(gpu, 2_MiB), base + 4_MiB);
  EXPECT_EQ(allocate(gpu, 2_MiB + 1_B), base + 8_MiB);
  EXPECT_EQ(allocate(gpu, 1_B), base + 14_MiB);
  EXPECT_EQ(allocate(gpu, 1_B, 1), Address{0x110000000000});
}

TEST(SimulatedGpu, AnAdjacentDeviceLeavesNoGaps) {
  SimulatedGpu gpu({DeviceOptions{.adjacent = true}});
  EXPECT_EQ(allocate(gpu, 1_B), base);
  EXPECT_EQ(allocate(gpu, 20_MiB), base + 2_MiB);
  EXPECT_EQ(allocate(gpu, 1_B), base + 22_MiB);
}

TEST(SimulatedGpu, FreedAddressesAreNotUsedAgain) {
  SimulatedGpu gpu;
  const Address a = allocate(gpu, 2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(allocate(gpu, 2_MiB), base + 4_MiB);
}

TEST(SimulatedGpu, ADeviceThatReusesAddressesTakesTheLowestThatFits) {
  SimulatedGpu gpu({DeviceOptions{.reuse_addresses = true}});
  const Address a = allocate(gpu, 2_MiB);
  const Address b = allocate(gpu, 20_MiB);
  const Address c = allocate(gpu, 20_MiB);
  const Address end = allocate(gpu, 2_MiB);
  for (const Address address : {c, a, b}) ASSERT_TRUE(gpu.free(0, address));
  EXPECT_EQ(allocate(gpu, 4_MiB), a);  // The freed ranges are one now.
  EXPECT_EQ(allocate(gpu, 2_MiB), a + 6_MiB);
  EXPECT_EQ(allocate(gpu, 60_MiB), end + 4_MiB);
}

TEST(SimulatedGpu, AReusedRangeMustHoldTheGapToo) {
  SimulatedGpu gpu({DeviceOptions{.reuse_addresses = true}});
  const Address a = allocate(gpu, 4_MiB);
  const Address b = allocate(gpu, 2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(allocate(gpu, 6_MiB), b + 4_MiB);  // Without its gap it would fit before b.
  EXPECT_EQ(allocate(gpu, 4_MiB), a);
}

TEST(SimulatedGpu, AReusedRangeEndsWhereOtherMemoryBegins) {
  SimulatedGpu gpu({DeviceOptions{.reuse_addresses = true}});
  const Address a{0x7e0000000000};
  ASSERT_TRUE(gpu.place(0, {a, 4_MiB}));
  ASSERT_TRUE(gpu.place(0, {a + 4_MiB, 4_MiB}));
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(allocate(gpu, 4_MiB), base);  // No room for the gap.
  EXPECT_EQ(allocate(gpu, 2_MiB), a);
}

TEST(SimulatedGpu, AFreedRangeThatWasAskedForByAddressIsInUseAgain) {
  SimulatedGpu gpu({DeviceOptions{.reuse_addresses = true}});
  const Address a = allocate(gpu, 2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  ASSERT_TRUE(gpu.set_next_address(0, a));
  ASSERT_EQ(allocate(gpu, 2_MiB), a);
  EXPECT_EQ(allocate(gpu, 2_MiB), a + 4_MiB);
}

TEST(SimulatedGpu, ARangeThatAnotherDeviceFreedIsNotUsedTwice) {
  SimulatedGpu gpu({DeviceOptions{.reuse_addresses = true}, DeviceOptions{}});
  const Address a = simulator::first_address(1);
  ASSERT_TRUE(gpu.place(0, {a, 20_MiB}));
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(allocate(gpu, 10_MiB, 1), a + 22_MiB);  // Only who gave it back may use it again.
  ASSERT_TRUE(gpu.set_next_address(1, a));
  ASSERT_EQ(allocate(gpu, 2_MiB, 1), a);
  EXPECT_EQ(allocate(gpu, 2_MiB), a + 2_MiB);
}

TEST(SimulatedGpu, MemoryGoesInStepsOfTwoMebibytesAndComesBack) {
  SimulatedGpu gpu({DeviceOptions{.memory = 10_MiB}});
  const Address a = allocate(gpu, 1_B);
  EXPECT_EQ(gpu.device_free(0), 8_MiB);
  allocate(gpu, 3_MiB);
  EXPECT_EQ(gpu.device_free(0), 4_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  EXPECT_EQ(gpu.device_free(0), 6_MiB);
  const auto info = gpu.mem_info(0);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->free, 6_MiB);
  EXPECT_EQ(info->total, 10_MiB);
}

TEST(SimulatedGpu, MemoryEnds) {
  SimulatedGpu gpu({DeviceOptions{.memory = 5_MiB}});
  allocate(gpu, 2_MiB);
  EXPECT_EQ(gpu.malloc(0, 3_MiB).error(), CudaStatus::out_of_memory);  // Rounded it is 4 MiB.
  EXPECT_EQ(gpu.malloc(0, Bytes{~std::uint64_t{0}}).error(), CudaStatus::out_of_memory);
  EXPECT_EQ(gpu.device_free(0), 3_MiB);
  allocate(gpu, 2_MiB);
}

TEST(SimulatedGpu, RefusesWhatCudaRefuses) {
  SimulatedGpu gpu;
  EXPECT_EQ(gpu.malloc(0, 0_B).error(), CudaStatus::invalid_value);
  EXPECT_EQ(static_cast<int>(gpu.malloc(1, 1_B).error()), 101);
  EXPECT_EQ(static_cast<int>(gpu.malloc(-1, 1_B).error()), 101);
  EXPECT_EQ(static_cast<int>(gpu.free(1, base).error()), 101);
  EXPECT_EQ(static_cast<int>(gpu.mem_info(1).error()), 101);
  EXPECT_EQ(gpu.free(0, base).error(), CudaStatus::invalid_value);
}

TEST(SimulatedGpu, PlacedMemoryIsOutFromTheStart) {
  SimulatedGpu gpu({DeviceOptions{.memory = 30_MiB}});
  ASSERT_TRUE(gpu.place(0, {Address{0x7e0000000000}, 19_MiB}));
  EXPECT_EQ(gpu.device_free(0), 10_MiB);
  ASSERT_TRUE(gpu.free(0, Address{0x7e0000000000}));
  EXPECT_EQ(gpu.device_free(0), 30_MiB);
  EXPECT_EQ(gpu.violation_count(), 0u);
}

TEST(SimulatedGpu, PlacesNothingOverOtherMemoryOrBeyondTheDevice) {
  SimulatedGpu gpu({DeviceOptions{.memory = 30_MiB}, {}});
  const Address a{0x7e0000000000};
  ASSERT_TRUE(gpu.place(0, {a, 19_MiB}));
  expect_refused(gpu.place(1, {a + 19_MiB, 2_MiB}),
                 "overlaps the 19922944 bytes at 0x7e0000000000");
  expect_refused(gpu.place(0, {Address{a.value - (1u << 20)}, 1_MiB}), "overlaps");
  expect_refused(gpu.place(0, {a + 20_MiB, 12_MiB}), "10485760 bytes left");
  expect_refused(gpu.place(0, {a + 20_MiB + 1_B, 2_MiB}), "multiple of 512");
  expect_refused(gpu.place(0, {Address{0}, 2_MiB}), "address 0");
  expect_refused(gpu.place(0, {a + 20_MiB, 0_B}), "empty");
  expect_refused(gpu.place(1, {Address{~std::uint64_t{511}}, 2_MiB}), "end of the address space");
  expect_refused(gpu.place(2, {a + 20_MiB, 2_MiB}), "no device 2");
  EXPECT_EQ(gpu.device_free(0), 10_MiB);
  EXPECT_TRUE(gpu.place(1, {a + 20_MiB, 2_MiB}));  // Exactly behind it.
}

TEST(SimulatedGpu, AllocationsStepOverPlacedMemory) {
  SimulatedGpu gpu;
  ASSERT_TRUE(gpu.place(0, {base + 4_MiB, 6_MiB}));
  EXPECT_EQ(allocate(gpu, 2_MiB), base);
  EXPECT_EQ(allocate(gpu, 2_MiB), base + 12_MiB);
}

TEST(SimulatedGpu, PlacedMemoryThatWasFreedIsNotUsedAgainEither) {
  SimulatedGpu gpu;
  ASSERT_TRUE(gpu.place(0, {base, 6_MiB}));
  ASSERT_TRUE(gpu.free(0, base));
  EXPECT_EQ(allocate(gpu, 2_MiB), base + 8_MiB);
}

TEST(SimulatedGpu, TheNextAddressIsTakenOnceByTheNextAllocationThatSucceeds) {
  SimulatedGpu gpu({DeviceOptions{.memory = 10_MiB}, {}});
  const Address wanted{0x7e0040000000};
  ASSERT_TRUE(gpu.set_next_address(0, wanted));
  EXPECT_EQ(gpu.malloc(0, 12_MiB).error(), CudaStatus::out_of_memory);
  EXPECT_EQ(allocate(gpu, 2_MiB, 1), Address{0x110000000000});
  EXPECT_EQ(allocate(gpu, 2_MiB), wanted);
  EXPECT_EQ(allocate(gpu, 2_MiB), base);
  EXPECT_TRUE(gpu.mistakes().empty());
}

TEST(SimulatedGpu, TheNextAddressMayBeOneThatWasFreed) {
  SimulatedGpu gpu;
  const Address a = allocate(gpu, 2_MiB);
  ASSERT_TRUE(gpu.free(0, a));
  ASSERT_TRUE(gpu.set_next_address(0, a));
  EXPECT_EQ(allocate(gpu, 2_MiB), a);
  EXPECT_EQ(gpu.violation_count(), 0u);
}

TEST(SimulatedGpu, ANextAddressThatIsInUseIsRefused) {
  SimulatedGpu gpu;
  const Address a = allocate(gpu, 3_MiB);
  expect_refused(gpu.set_next_address(0, a + 2_MiB),
                 "overlaps the 3145728 bytes at 0x100000000000");
  expect_refused(gpu.set_next_address(0, a + 1_B), "multiple of 512");
  expect_refused(gpu.set_next_address(5, a), "no device 5");
  EXPECT_EQ(allocate(gpu, 2_MiB), a + 6_MiB);
}

TEST(SimulatedGpu, ANextAddressWithTooLittleRoomIsAMistake) {
  SimulatedGpu gpu;
  ASSERT_TRUE(gpu.place(0, {base + 4_MiB, 2_MiB}));
  ASSERT_TRUE(gpu.set_next_address(0, base + 2_MiB));
  const Address landed = allocate(gpu, 4_MiB);
  EXPECT_EQ(landed, base + 8_MiB);
  ASSERT_EQ(gpu.mistakes().size(), 1u);
  EXPECT_NE(gpu.mistakes()[0].find("4194304 bytes at 0x100000200000"), std::string::npos);
  EXPECT_NE(gpu.mistakes()[0].find("2097152 bytes at 0x100000400000"), std::string::npos);
}

TEST(SimulatedDriver, IsTheGpuAsADriver) {
  SimulatedGpu gpu({DeviceOptions{.memory = 4_MiB}, {}});
  SimulatedDriver driver(gpu);
  EXPECT_EQ(driver.device_count(), 2);
  const auto address = driver.malloc(0, 1_B);
  ASSERT_TRUE(address);
  EXPECT_EQ(driver.mem_info(0)->free, 2_MiB);
  EXPECT_TRUE(driver.free(0, *address));
  EXPECT_EQ(gpu.device_free(0), 4_MiB);
}

}  // namespace
}  // namespace cairn::simulator
