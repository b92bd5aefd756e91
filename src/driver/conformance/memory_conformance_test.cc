// Devices and memory.
#include <vector>

#include "driver/conformance/conformance.h"

namespace cairn::conformance {
namespace {

using namespace literals;

TEST_P(DriverConformance, FactsOfDevicesStay) {
  ASSERT_GT(driver().device_count(), 0);
  const Bytes total = driver().total_memory(0);
  EXPECT_GT(total, 0_B);
  EXPECT_EQ(driver().total_memory(0), total);
  EXPECT_EQ(driver().device_count(), driver().device_count());
  driver().processes(0);  // Whatever it knows.
}

TEST_P(DriverConformance, MemoryIsAlignedAndGoesBackWhole) {
  std::vector<Span> spans;
  for (const Bytes size : {1_B, 512_B, 2_MiB, 20_MiB + 1_B}) {
    const auto address = driver().malloc(0, size);
    ASSERT_TRUE(address);
    EXPECT_NE(address->value, 0u);
    EXPECT_TRUE(is_aligned(*address, 512_B));
    for (const Span other : spans) EXPECT_FALSE(other.overlaps({*address, size}));
    spans.push_back({*address, size});
  }
  for (const Span span : spans) EXPECT_TRUE(driver().free(0, span.begin));
}

TEST_P(DriverConformance, MemoryInfoCountsWhatIsOut) {
  const auto before = driver().mem_info(0);
  ASSERT_TRUE(before);
  EXPECT_LE(before->free, before->total);
  const auto address = driver().malloc(0, 64_MiB);
  ASSERT_TRUE(address);
  const auto after = driver().mem_info(0);
  ASSERT_TRUE(after);
  EXPECT_EQ(after->total, before->total);
  EXPECT_LE(after->free + 64_MiB, before->free);
  ASSERT_TRUE(driver().free(0, *address));
  EXPECT_GT(value(driver().mem_info(0)).free, after->free);
}

TEST_P(DriverConformance, NoBytesAreAnInvalidValue) {
  EXPECT_EQ(status_of(driver().malloc(0, 0_B)), CudaStatus::invalid_value);
}

TEST_P(DriverConformance, MoreThanThereIsIsOutOfMemoryAndTakesNothing) {
  const Bytes free = value(driver().mem_info(0)).free;
  EXPECT_EQ(status_of(driver().malloc(0, driver().total_memory(0) * 2)), CudaStatus::out_of_memory);
  EXPECT_EQ(status_of(driver().malloc(0, Bytes{std::uint64_t{1} << 60})),
            CudaStatus::out_of_memory);
  EXPECT_GE(value(driver().mem_info(0)).free + 2_MiB, free);
}

TEST_P(DriverConformance, WhatWasNotGivenCannotBeFreed) {
  const auto address = driver().malloc(0, 4_MiB);
  ASSERT_TRUE(address);
  EXPECT_EQ(status_of(driver().free(0, *address + 512_B)), CudaStatus::invalid_value);
  EXPECT_EQ(status_of(driver().free(0, Address{512})), CudaStatus::invalid_value);
  EXPECT_TRUE(driver().free(0, *address));
}

TEST_P(DriverConformance, ASecondFreeIsAnInvalidValue) {
  const auto address = driver().malloc(0, 4_MiB);
  ASSERT_TRUE(address);
  EXPECT_TRUE(driver().free(0, *address));
  EXPECT_EQ(status_of(driver().free(0, *address)), CudaStatus::invalid_value);
}

TEST_P(DriverConformance, DevicesShareOneAddressSpace) {
  if (!has_two_devices()) GTEST_SKIP() << "one device";
  const auto first = driver().malloc(0, 4_MiB);
  const auto second = driver().malloc(1, 4_MiB);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE((Span{*first, 4_MiB}.overlaps({*second, 4_MiB})));
  EXPECT_TRUE(driver().free(0, *first));
  EXPECT_TRUE(driver().free(1, *second));
}

TEST_P(DriverConformance, ADeviceThatIsNotThereIsAnInvalidDevice) {
  const EventHandle event = make_event();
  for (const DeviceIndex device : {-1, driver().device_count()}) {
    const StreamRef stream{device, legacy_stream_handle};
    const std::vector<CudaStatus> answers{
        status_of(driver().malloc(device, 2_MiB)),
        status_of(driver().free(device, Address{512})),
        status_of(driver().mem_info(device)),
        status_of(driver().event_create(device, {})),
        status_of(driver().event_record(stream, event)),
        status_of(driver().event_query(device, event)),
        status_of(driver().event_sync(device, event)),
        status_of(driver().event_destroy(device, event)),
        status_of(driver().ctx_record(device, event)),
        status_of(driver().stream_sync(stream)),
        status_of(driver().device_sync(device)),
        status_of(driver().stream_ctx(stream)),
        status_of(driver().stream_id(stream)),
    };
    EXPECT_EQ(answers, std::vector(answers.size(), CudaStatus::invalid_device));
  }
  EXPECT_TRUE(driver().event_destroy(0, event));
}

}  // namespace
}  // namespace cairn::conformance
