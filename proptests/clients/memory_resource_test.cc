// cairn/memory_resource.h as its clients see it: through CCCL's type-erased resources, over the
// simulated CUDA with two devices. Compiled with CCCL of either generation.
#include "cairn/memory_resource.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>

#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "proptests/clients/generations.h"
#include "proptests/clients/judged.h"

namespace cairn::clients {
namespace {

static_assert(is_resource<MemoryResource>);
static_assert(is_synchronous_resource<MemoryResource>);
static_assert(is_resource_with<MemoryResource, cuda::mr::device_accessible>);
static_assert(!is_resource_with<MemoryResource, cuda::mr::host_accessible>);
static_assert(std::is_nothrow_copy_constructible_v<MemoryResource>);
static_assert(std::is_nothrow_copy_assignable_v<MemoryResource>);
static_assert(std::is_convertible_v<MemoryResource&, Ref>);

constexpr std::size_t size = 1 << 20;

class Resource : public testing::Test {
 protected:
  static void SetUpTestSuite() { setenv("CAIRN_SIM_DEVICES", "2", 1); }
  void SetUp() override { ASSERT_EQ(cudaSetDevice(0), cudaSuccess); }
  void TearDown() override { EXPECT_EQ(violations(), ""); }

  std::int64_t allocated(int device = 0) const {
    return allocator.stats(device).allocated_bytes.all.current;
  }
  static int current_device() {
    int device = -1;
    EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
    return device;
  }

  void* allocate_for(cudaStream_t stream) {
    void* const memory = allocate(ref, stream, size, 256);
    handed_out(stream, memory, size);
    return memory;
  }
  void free_on(cudaStream_t stream, void* memory) {
    taken_back(stream, memory, size);
    deallocate(ref, stream, memory, size);
  }

  // Memory that was just allocated by a synchronous call is used by `write`, and freed by another.
  template <class Write>
  static void use_and_free_sync(Ref& by, cudaStream_t stream, void* memory, Write&& write) {
    handed_out(stream, memory, size);
    write(stream, memory, size);
    taken_back(stream, memory, size);
    deallocate_sync(by, memory, size);
  }

  Allocator allocator{cuda_driver()};
  MemoryResource resource{allocator, 0};
  Ref ref{resource};
};

TEST_F(Resource, MemoryServesItsStreamAgainAtOnce) {
  const OwnStream stream;
  void* const memory = allocate_for(stream);
  write_late(stream, memory, size);
  free_on(stream, memory);
  EXPECT_EQ(allocate_for(stream), memory);
  write_now(stream, memory, size);
  free_on(stream, memory);
  EXPECT_EQ(allocated(), 0);
}

TEST_F(Resource, MemoryOfAStreamIsNotAnothersWhileItIsUsed) {
  const OwnStream mine;
  const OwnStream other;
  void* const memory = allocate_for(mine);
  write_late(mine, memory, size);
  free_on(mine, memory);
  void* const next = allocate_for(other);
  EXPECT_NE(next, memory);
  write_now(other, next, size);
  free_on(other, next);
}

TEST_F(Resource, AFreeOnAnotherStreamWaitsForThatOne) {
  const OwnStream mine;
  const OwnStream other;
  void* const memory = allocate_for(mine);
  write_late(other, memory, size);
  free_on(other, memory);
  void* const next = allocate_for(mine);
  EXPECT_NE(next, memory);
  write_now(mine, next, size);
  free_on(mine, next);
  ASSERT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  void* const first = allocate_for(mine);
  void* const second = allocate_for(mine);
  EXPECT_TRUE(first == memory || second == memory);
  free_on(mine, first);
  free_on(mine, second);
}

TEST_F(Resource, WhatIsAllocatedSynchronouslyCanBeUsedByAnyStream) {
  const OwnStream other;
  void* const memory = allocate_for(cudaStreamLegacy);
  write_late(cudaStreamLegacy, memory, size);
  free_on(cudaStreamLegacy, memory);
  void* const next = allocate_sync(ref, size);
  EXPECT_EQ(next, memory);
  use_and_free_sync(ref, other, next, write_now);
}

TEST_F(Resource, WhatIsFreedSynchronouslyMayBeInUse) {
  const OwnStream mine;
  const OwnStream other;
  void* const memory = allocate_sync(ref, size);
  use_and_free_sync(ref, mine, memory, write_late);
  void* const next = allocate_sync(ref, size);
  EXPECT_EQ(next, memory);
  use_and_free_sync(ref, other, next, write_now);
  EXPECT_EQ(allocated(), 0);
}

TEST_F(Resource, IsBoundToItsDeviceWhateverTheCurrentOneIs) {
  MemoryResource second(allocator, 1);
  Ref erased(second);
  void* const memory = allocate(erased, cudaStreamLegacy, size, 256);
  void* const more = allocate_sync(erased, size);
  EXPECT_EQ(allocated(1), 2 * std::int64_t{size});
  EXPECT_EQ(allocated(0), 0);
  for (const void* const pointer : {memory, more}) {
    cudaPointerAttributes attributes{};
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, pointer), cudaSuccess);
    EXPECT_EQ(attributes.device, 1);
  }
  deallocate_sync(erased, more, size);
  deallocate(erased, cudaStreamLegacy, memory, size);
  EXPECT_EQ(allocated(1), 0);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(Resource, SynchronousCallsWaitForItsDeviceNotTheCurrentOne) {
  MemoryResource second(allocator, 1);
  Ref erased(second);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  const OwnStream mine;
  const OwnStream other;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  void* const memory = allocate_sync(erased, size);
  use_and_free_sync(erased, mine, memory, write_late);
  void* const next = allocate_sync(erased, size);
  EXPECT_EQ(next, memory);
  use_and_free_sync(erased, other, next, write_now);
  EXPECT_EQ(current_device(), 0);
}

TEST_F(Resource, AlignmentHolds) {
  void* const odd = allocate(ref, cudaStreamLegacy, 512, 1);
  for (const std::size_t alignment : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 21}) {
    void* const memory = allocate(ref, cudaStreamLegacy, size, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % alignment, 0U);
    deallocate(ref, cudaStreamLegacy, memory, size);
  }
  EXPECT_THROW(allocate(ref, cudaStreamLegacy, size, 3), InvalidArgument);
  EXPECT_THROW(allocate(ref, cudaStreamLegacy, size, std::size_t{1} << 22), InvalidArgument);
  deallocate(ref, cudaStreamLegacy, odd, 512);
}

TEST_F(Resource, FailuresAreExceptions) {
  EXPECT_THROW(allocate(ref, cudaStreamLegacy, std::size_t{81} << 30, 256), OutOfMemory);
  EXPECT_THROW(allocate_sync(ref, std::size_t{81} << 30), OutOfMemory);
  EXPECT_EQ(allocator.stats(0).num_ooms, 2);
  MemoryResource nowhere(allocator, 7);
  EXPECT_THROW((void)nowhere.allocate(cuda::stream_ref(cudaStreamLegacy), size), InvalidArgument);
  EXPECT_THROW((void)nowhere.allocate_sync(size), InvalidArgument);
}

TEST_F(Resource, NoBytesAreNull) {
  EXPECT_EQ(allocate(ref, cudaStreamLegacy, 0, 256), nullptr);
  EXPECT_EQ(allocate_sync(ref, 0), nullptr);
  deallocate(ref, cudaStreamLegacy, nullptr, 0);
  deallocate_sync(ref, nullptr, 0);
}

TEST_F(Resource, EqualOnesFreeEachOthersMemory) {
  Allocator another(cuda_driver());
  EXPECT_EQ(resource, MemoryResource(allocator, 0));
  EXPECT_NE(resource, MemoryResource(allocator, 1));
  EXPECT_NE(resource, MemoryResource(another, 0));
  MemoryResource copy = resource;
  Ref erased(copy);
  EXPECT_TRUE(erased == ref);
  deallocate(erased, cudaStreamLegacy, allocate(ref, cudaStreamLegacy, size, 256), size);
  EXPECT_EQ(allocated(), 0);
}

TEST_F(Resource, AFreeThatFailsSaysSoAndChangesNothing) {
  void* const memory = allocate(ref, cudaStreamLegacy, size, 256);
  testing::internal::CaptureStderr();
  deallocate(ref, cudaStreamLegacy, static_cast<char*>(memory) + 512, size);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cairn: a free of 0x"), std::string::npos);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(allocated(), std::int64_t{size});
  deallocate(ref, cudaStreamLegacy, memory, size);
  testing::internal::CaptureStderr();
  deallocate(ref, cudaStreamLegacy, memory, size);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("freed before"), std::string::npos);
}

// Where the first wait for a stream and the first one for a device fail.
class FailingWaits : public Resource {
 protected:
  static void SetUpTestSuite() {
    setenv("CAIRN_SIM_FAULT", "stream_sync at=1 error=unknown; device_sync at=1 error=unknown", 1);
  }
};

TEST_F(FailingWaits, LoseNothingAndFreeNothingTooEarly) {
  EXPECT_THROW(allocate_sync(ref, size), CudaError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "it is said by the exception";
  EXPECT_EQ(allocated(), 0);
  void* const memory = allocate_sync(ref, size);
  testing::internal::CaptureStderr();
  deallocate_sync(ref, memory, size);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("cairn: a free of 0x"), std::string::npos);
  EXPECT_EQ(allocated(), std::int64_t{size});
  deallocate_sync(ref, memory, size);
  EXPECT_EQ(allocated(), 0);
}

}  // namespace
}  // namespace cairn::clients
