// RMM as it was while it was headers alone (25.02), with CCCL of the generation before: it keeps a
// reference to the resource of each device.
#include <gtest/gtest.h>

#include <cstdint>
#include <rmm/cuda_device.hpp>
#include <rmm/device_buffer.hpp>
#include <rmm/device_uvector.hpp>
#include <rmm/mr/device/limiting_resource_adaptor.hpp>
#include <rmm/mr/device/per_device_resource.hpp>
#include <string>

#include "cairn/cuda_driver.h"
#include "cairn/rmm.h"
#include "proptests/clients/judged.h"

namespace cairn::clients {
namespace {

constexpr std::size_t size = 1 << 20;

class RmmOfHeaders : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    rmm::mr::set_current_device_resource_ref(resource);
  }
  void TearDown() override {
    rmm::mr::reset_current_device_resource_ref();
    EXPECT_EQ(allocator.stats(0).allocation.all.current, 0);
    EXPECT_EQ(violations(), "");
  }

  Allocator allocator{cuda_driver()};
  RmmResource resource{allocator, 0};
};

TEST_F(RmmOfHeaders, BuffersOfTheCurrentDeviceAreCairns) {
  const OwnStream stream;
  const rmm::device_buffer buffer(1000, cudaStream_t(stream));
  rmm::device_uvector<double> vector(1000, cudaStream_t(stream));
  vector.resize(2000, cudaStream_t(stream));
  EXPECT_EQ(allocator.stats(0).requested_bytes.all.current, 17'000);
}

TEST_F(RmmOfHeaders, AVectorThatChangesItsStreamIsFreedOnTheNewOne) {
  const OwnStream first;
  const OwnStream second;
  const void* memory = nullptr;
  {
    rmm::device_uvector<char> vector(size, cudaStream_t(first));
    memory = vector.data();
    handed_out(first, memory, size);
    vector.set_stream(cudaStream_t(second));
    write_late(second, memory, size);
    taken_back(second, memory, size);
  }
  const rmm::device_uvector<char> next(size, cudaStream_t(first));
  EXPECT_NE(next.data(), memory);
  handed_out(first, next.data(), size);
  write_now(first, next.data(), size);
  taken_back(first, next.data(), size);
}

TEST_F(RmmOfHeaders, OutOfMemoryIsRmmsWithCairnsWords) {
  try {
    const rmm::device_buffer buffer(std::size_t{81} << 30, rmm::cuda_stream_default);
    ADD_FAILURE() << "it did not throw";
  } catch (const rmm::out_of_memory& failure) {
    EXPECT_NE(std::string(failure.what()).find("81.00 GiB"), std::string::npos) << failure.what();
  }
}

TEST_F(RmmOfHeaders, AnAdaptorOfItsOwnTakesCairn) {
  rmm::mr::limiting_resource_adaptor<RmmResource> limited(&resource, 2 * size);
  const rmm::device_buffer buffer(size, rmm::cuda_stream_default, limited);
  EXPECT_THROW(rmm::device_buffer(2 * size, rmm::cuda_stream_default, limited), rmm::out_of_memory);
  EXPECT_EQ(allocator.stats(0).allocation.all.current, 1);
}

}  // namespace
}  // namespace cairn::clients
