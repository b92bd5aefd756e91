// What a free waits for, and when memory is handed out again.
#include <algorithm>

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

void expect_wait_where_memory_is_short() {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_of(80 * mebibyte);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(malloc_of(80 * mebibyte), memory);
  EXPECT_TRUE(is_idle(stream));
}

TEST(PreloadedFree, ByEventWaitsWhereMemoryIsShort) { expect_wait_where_memory_is_short(); }

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

// Memory of which the event says nothing comes free by a synchronisation, which is said once.
void expect_free_without_the_event(const char* fault, int rounds) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  setenv("CAIRN_SIM_FAULT", fault, 1);
  cudaStream_t const one = new_stream();
  cudaStream_t const other = new_stream();
  testing::internal::CaptureStderr();
  for (int round = 0; round < rounds; ++round) {
    void* const memory = malloc_of(mebibyte);
    hand_out(one, memory, mebibyte);
    use_long(one, memory, mebibyte);
    ASSERT_EQ(cudaFree(memory), cudaSuccess);
    take_back(memory, mebibyte);
    EXPECT_FALSE(is_idle(one));
    void* const again = malloc_of(mebibyte);
    EXPECT_EQ(again, memory);
    hand_out(other, again, mebibyte);
    use_long(other, again, mebibyte);
    take_back(again, mebibyte);
    ASSERT_EQ(cudaFree(again), cudaSuccess);
  }
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("an event gives an error"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(violations(), "");
}

TEST(PreloadedFree, ByEventWhoseQueryAlwaysFailsSynchronises) {
  expect_free_without_the_event("event_query error=unknown count=forever", 3);
}

TEST(PreloadedFree, ByEventWhoseQueryFailsOnceSynchronises) {
  expect_free_without_the_event("event_query error=unknown", 1);
}

TEST(PreloadedFree, ByEventThatCannotBeWaitedForSynchronisesWhereMemoryIsShort) {
  setenv("CAIRN_SIM_FAULT", "event_sync error=unknown count=forever", 1);
  expect_wait_where_memory_is_short();
}

// Neither the event nor the device says anything: the memory is not handed out.
TEST(PreloadedFree, ByEventKeepsWhatNothingSaysIsDone) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  setenv("CAIRN_SIM_FAULT",
         "event_query error=unknown count=forever; device_sync error=unknown count=2", 1);
  void* const memory = malloc_of(mebibyte);
  use_long(new_stream(), memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  void* const others[] = {malloc_of(mebibyte), malloc_of(mebibyte)};
  EXPECT_NE(others[0], memory);
  EXPECT_NE(others[1], memory);
  EXPECT_EQ(malloc_of(mebibyte), memory) << "it can be synchronised again";
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
