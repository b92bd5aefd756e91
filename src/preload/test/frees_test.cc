// What a free waits for, and when memory is handed out again.
#include "preload/test/preload_in_test.h"
#include "preload/test/stub.h"

extern "C" {  // What programs compiled for per-thread default streams call.
cudaError_t cudaMallocAsync_ptsz(void** pointer, std::size_t size, cudaStream_t stream);
cudaError_t cudaFreeAsync_ptsz(void* pointer, cudaStream_t stream);
}

namespace cairn::preload {
namespace {

TEST(PreloadedFree, IsServedFromTheCache) {
  void* const first = malloc_of(mebibyte);
  for (int round = 0; round < 100; ++round) {
    ASSERT_EQ(cudaFree(round == 0 ? first : malloc_of(mebibyte)), cudaSuccess);
  }
  EXPECT_EQ(malloc_of(mebibyte), first);
  EXPECT_EQ(cairn_stub_mallocs(), 0);
  EXPECT_EQ(cairn_stub_frees(), 0);
}

TEST(PreloadedFree, WaitsForEveryStream) {
  cudaStream_t const one = new_stream();
  cudaStream_t const other = new_stream();
  void* const memory = malloc_of(mebibyte);
  hand_out(one, memory, mebibyte);
  use_long(one, memory, mebibyte);
  ASSERT_FALSE(is_idle(one));
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(is_idle(one));
  take_back(memory, mebibyte);
  ASSERT_EQ(malloc_of(mebibyte), memory);
  hand_out(other, memory, mebibyte);
  use_long(other, memory, mebibyte);
  EXPECT_EQ(violations(), "");
}

TEST(PreloadedFree, WaitsForWorkOnOtherDevices) {
  setenv("CAIRN_SIM_DEVICES", "2", 1);
  void* const memory = malloc_of(mebibyte);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t const reader = new_stream();
  use_long(reader, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(is_idle(reader));
}

TEST(PreloadedFree, ByEventWaitsForNothingAndKeepsTheMemoryBack) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  cudaStream_t const one = new_stream();
  cudaStream_t const other = new_stream();
  void* const memory = malloc_of(mebibyte);
  hand_out(one, memory, mebibyte);
  use_long(one, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  take_back(memory, mebibyte);
  EXPECT_FALSE(is_idle(one));
  EXPECT_NE(malloc_of(mebibyte), memory);
  let_time_go_by();
  ASSERT_EQ(malloc_of(mebibyte), memory);
  hand_out(other, memory, mebibyte);
  use_long(other, memory, mebibyte);
  EXPECT_EQ(violations(), "");
}

TEST(PreloadedFree, ByEventWaitsWhereMemoryIsShort) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_of(80 * mebibyte);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(malloc_of(80 * mebibyte), memory);
  EXPECT_TRUE(is_idle(stream));
}

TEST(PreloadedFree, ByEventSynchronisesWhereThereIsNoEventOfAContext) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  setenv("CAIRN_SIM_MISSING", "cuCtxRecordEvent", 1);
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_of(mebibyte);
  use_long(stream, memory, mebibyte);
  testing::internal::CaptureStderr();
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(is_idle(stream));
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("CUDA 12.5 or later; cudaFree synchronises instead"), std::string::npos)
      << said;
}

TEST(PreloadedFree, InTheOrderOfAStreamWaitsForNothing) {
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_async_of(mebibyte, stream);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_FALSE(is_idle(stream));
  EXPECT_NE(malloc_async_of(mebibyte, new_stream()), memory);
  EXPECT_EQ(malloc_async_of(mebibyte, stream), memory);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
}

TEST(PreloadedFree, OnAnotherStreamFencesTheMemory) {
  cudaStream_t const owner = new_stream();
  cudaStream_t const other = new_stream();
  void* const memory = malloc_async_of(mebibyte, owner);
  use_long(other, memory, mebibyte);
  ASSERT_EQ(cudaFreeAsync(memory, other), cudaSuccess);
  EXPECT_NE(malloc_async_of(mebibyte, owner), memory);
  let_time_go_by();
  EXPECT_EQ(malloc_async_of(mebibyte, owner), memory);
}

TEST(PreloadedFree, OfThePerThreadStreamIsInItsOrder) {
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync_ptsz(&memory, mebibyte, nullptr), cudaSuccess);
  ASSERT_EQ(cudaFreeAsync_ptsz(memory, nullptr), cudaSuccess);
  EXPECT_NE(malloc_async_of(mebibyte, nullptr), memory);
  EXPECT_EQ(malloc_async_of(mebibyte, cudaStreamPerThread), memory);
}

// cudaMalloc's memory may be used on any stream at once.
TEST(PreloadedMalloc, NeverGivesWhatOneStreamAloneMayUse) {
  void* const memory = malloc_async_of(mebibyte, nullptr);
  use_long(nullptr, memory, mebibyte);
  ASSERT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_NE(malloc_of(mebibyte), memory);
}

TEST(PreloadedFree, InTheOrderOfAStreamFencesMemoryOfCudaMalloc) {
  void* const memory = malloc_of(mebibyte);
  use_long(nullptr, memory, mebibyte);
  ASSERT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_NE(malloc_of(mebibyte), memory);
  let_time_go_by();
  EXPECT_EQ(malloc_of(mebibyte), memory);
}

TEST(PreloadedFree, OfStreamOrderedMemoryWaitsToo) {
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_async_of(mebibyte, stream);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_TRUE(is_idle(stream));
  EXPECT_EQ(malloc_async_of(mebibyte, stream), memory);
}

TEST(PreloadedFree, OfAStreamThatWasDestroyedNeedsItsHandleNoMore) {
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  setenv("CAIRN_SIM_FAULT", "device_sync error=illegal_address", 1);
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_async_of(80 * mebibyte, stream);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_NE(malloc_of(80 * mebibyte), nullptr);  // The first goes back: its end was told.
  EXPECT_EQ(violations(), "");
}

TEST(PreloadedFree, AndMallocAreOfTheDeviceOfTheStream) {
  setenv("CAIRN_SIM_DEVICES", "2", 1);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  cudaStream_t const stream = new_stream();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  void* const memory = malloc_async_of(mebibyte, stream);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  ASSERT_EQ(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT_EQ(malloc_async_of(mebibyte, stream), memory);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
}

}  // namespace
}  // namespace cairn::preload
