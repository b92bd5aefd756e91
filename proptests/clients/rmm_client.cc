// RMM, with Cairn as the resource of each device: its buffers, vectors and adaptors.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <rmm/cuda_device.hpp>
#include <rmm/device_buffer.hpp>
#include <rmm/device_uvector.hpp>
#include <rmm/mr/failure_callback_resource_adaptor.hpp>
#include <rmm/mr/per_device_resource.hpp>
#include <rmm/mr/statistics_resource_adaptor.hpp>
#include <string>
#include <utility>

#include "cairn/cuda_driver.h"
#include "cairn/rmm.h"
#include "proptests/clients/judged.h"

namespace cairn::clients {
namespace {

static_assert(cuda::mr::resource_with<RmmResource, cuda::mr::device_accessible>);

constexpr std::size_t size = 1 << 20;
constexpr std::size_t more_than_there_is = std::size_t{81} << 30;

class Rmm : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("CAIRN_SIM_DEVICES", "2", 1); }
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    for (int device = 0; device < 2; ++device) {
      rmm::mr::set_per_device_resource(rmm::cuda_device_id{device}, RmmResource(allocator, device));
    }
  }
  void TearDown() override {
    for (int device = 0; device < 2; ++device) {
      rmm::mr::reset_per_device_resource(rmm::cuda_device_id{device});
      EXPECT_EQ(allocated(device), 0);
    }
    EXPECT_EQ(violations(), "");
  }

  std::int64_t allocated(int device = 0) const {
    return allocator.stats(device).allocated_bytes.all.current;
  }
  // Lives for one statement: what is written late into it is on `stream`.
  static void* write_and_free(const OwnStream& stream) {
    rmm::device_buffer buffer(size, cuda::stream_ref(stream));
    void* const memory = buffer.data();
    handed_out(stream, memory, size);
    write_late(stream, memory, size);
    taken_back(stream, memory, size);
    return memory;
  }

  Allocator allocator{cuda_driver()};
};

TEST_F(Rmm, BuffersOfTheCurrentDeviceAreCairns) {
  const OwnStream stream;
  {
    const rmm::device_buffer buffer(size, cuda::stream_ref(stream));
    EXPECT_EQ(allocated(), std::int64_t{size});
    const rmm::device_buffer copy(buffer, cuda::stream_ref(stream));
    EXPECT_EQ(allocated(), 2 * std::int64_t{size});
    EXPECT_NE(copy.data(), buffer.data());
  }
  EXPECT_EQ(allocated(), 0);
  EXPECT_EQ(allocator.stats(0).num_device_free, 0);
}

TEST_F(Rmm, AFreedBufferServesItsStreamAgainAndNoOther) {
  const OwnStream mine;
  const OwnStream other;
  void* const memory = write_and_free(mine);
  const rmm::device_buffer others(size, cuda::stream_ref(other));
  EXPECT_NE(others.data(), memory);
  handed_out(other, others.data(), size);
  write_now(other, others.data(), size);
  taken_back(other, others.data(), size);
  const rmm::device_buffer next(size, cuda::stream_ref(mine));
  EXPECT_EQ(next.data(), memory);
  handed_out(mine, next.data(), size);
  write_now(mine, next.data(), size);
  taken_back(mine, next.data(), size);
}

TEST_F(Rmm, AVectorThatChangesItsStreamIsFreedOnTheNewOne) {
  const OwnStream first;
  const OwnStream second;
  void* memory = nullptr;
  {
    rmm::device_uvector<char> vector(size, cuda::stream_ref(first));
    memory = vector.data();
    handed_out(first, memory, size);
    vector.set_stream(cuda::stream_ref(second));
    write_late(second, memory, size);
    taken_back(second, memory, size);
  }
  const rmm::device_uvector<char> next(size, cuda::stream_ref(first));
  EXPECT_NE(next.data(), memory);
  handed_out(first, next.data(), size);
  write_now(first, next.data(), size);
  taken_back(first, next.data(), size);
}

TEST_F(Rmm, AVectorGrows) {
  const OwnStream stream;
  rmm::device_uvector<double> vector(100, cuda::stream_ref(stream));
  vector.resize(100'000, cuda::stream_ref(stream));
  EXPECT_EQ(allocator.stats(0).requested_bytes.all.current, 800'000);
  vector.resize(0, cuda::stream_ref(stream));
  vector.shrink_to_fit(cuda::stream_ref(stream));
  EXPECT_EQ(allocated(), 0);
}

TEST_F(Rmm, EachDeviceHasItsOwn) {
  const rmm::cuda_set_device_raii second(rmm::cuda_device_id{1});
  const OwnStream stream;
  const rmm::device_buffer buffer(size, cuda::stream_ref(stream));
  EXPECT_EQ(allocated(1), std::int64_t{size});
  EXPECT_EQ(allocated(0), 0);
}

TEST_F(Rmm, OutOfMemoryIsRmmsWithCairnsWords) {
  try {
    const rmm::device_buffer buffer(more_than_there_is, cuda::stream_ref(cudaStreamLegacy));
    ADD_FAILURE() << "it did not throw";
  } catch (const rmm::out_of_memory& failure) {
    EXPECT_NE(std::string(failure.what()).find("81.00 GiB"), std::string::npos) << failure.what();
  }
  RmmResource nowhere(allocator, 7);
  EXPECT_THROW((void)nowhere.allocate(cuda::stream_ref(cudaStreamLegacy), size), rmm::bad_alloc);
  EXPECT_THROW((void)nowhere.allocate_sync(size), rmm::bad_alloc);
}

TEST_F(Rmm, AFailureCallbackThatSpillsIsCalled) {
  const OwnStream stream;
  rmm::device_buffer cold(std::size_t{60} << 30, cuda::stream_ref(stream));
  int calls = 0;
  const auto spill = [&](std::size_t /*bytes*/, void* /*argument*/) {
    ++calls;
    cold = rmm::device_buffer();
    return true;
  };
  rmm::mr::failure_callback_resource_adaptor<rmm::out_of_memory> spilling(RmmResource(allocator, 0),
                                                                          spill, nullptr);
  const rmm::device_buffer hot(std::size_t{60} << 30, cuda::stream_ref(stream), spilling);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(allocated(), std::int64_t{60} << 30);
}

TEST_F(Rmm, ItsStatisticsAndCairnsAgree) {
  const OwnStream stream;
  rmm::mr::statistics_resource_adaptor counting(RmmResource(allocator, 0));
  {
    const rmm::device_buffer one(1000, cuda::stream_ref(stream), counting);
    const rmm::device_buffer two(3000, cuda::stream_ref(stream), counting);
    EXPECT_EQ(counting.get_bytes_counter().value, 4000);
    EXPECT_EQ(allocator.stats(0).requested_bytes.all.current, 4000);
    EXPECT_EQ(counting.get_allocations_counter().value, 2);
    EXPECT_EQ(allocator.stats(0).allocation.all.current, 2);
  }
  EXPECT_EQ(counting.get_bytes_counter().value, 0);
  EXPECT_EQ(counting.get_bytes_counter().peak, allocator.stats(0).requested_bytes.all.peak);
}

}  // namespace
}  // namespace cairn::clients
