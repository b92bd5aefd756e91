// When the host has no memory left in a free, wherever that comes, the free fails or is done, and
// the program holds the block until it is. Here every single allocation of host memory that a free
// makes fails once, those of the simulated CUDA too.
//
// The library's sources are in the program itself, since a library for LD_PRELOAD has an operator
// new of its own.
#include "preload/test/preload_in_test.h"
#include "testing/host_memory_in_test.h"

namespace cairn::preload {
namespace {

// Lets the 1st, the 2nd, ... allocation of the free of a block fail, until it makes no more. A free
// that fails is made again: a block that was lost would be refused as an invalid value. Gives how
// many failed.
template <class Get, class Free>
int failures_of(Get&& get, Free&& free) {
  int failures = 0;
  for (int nth = 1;; ++nth) {
    void* const memory = get();
    allocations_until_failure = nth;
    const cudaError_t said = free(memory);
    const bool has_failed = allocations_until_failure == 0;
    allocations_until_failure = 0;
    if (said != cudaSuccess) {
      ++failures;
      EXPECT_EQ(said, cudaErrorMemoryAllocation) << "allocation " << nth;
      EXPECT_EQ(free(memory), cudaSuccess) << "allocation " << nth;
    }
    if (!has_failed || testing::Test::HasFailure()) return failures;
  }
}

TEST(PreloadHostMemory, AFreeThatFindsNoneLeavesTheBlockHeld) {
  EXPECT_GT(failures_of([] { return malloc_of(mebibyte); }, [](void* p) { return cudaFree(p); }),
            0);
}

TEST(PreloadHostMemory, AFreeByEventThatFindsNoneLeavesTheBlockHeld) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  EXPECT_GT(failures_of([] { return malloc_of(mebibyte); }, [](void* p) { return cudaFree(p); }),
            0);
}

TEST(PreloadHostMemory, AFreeOnAnotherStreamThatFindsNoneLeavesTheBlockHeld) {
  cudaStream_t const owner = new_stream();
  cudaStream_t const other = new_stream();
  EXPECT_GT(failures_of([&] { return malloc_async_of(mebibyte, owner); },
                        [&](void* p) { return cudaFreeAsync(p, other); }),
            0);
}

TEST(PreloadHostMemory, AFreeDuringACaptureThatFindsNoneLeavesTheBlockHeld) {
  cudaStream_t const captured = new_stream();
  void* blocks[20] = {};
  for (void*& block : blocks) block = malloc_of(mebibyte);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  void** next = blocks;
  EXPECT_GT(failures_of([&] { return *next++; }, [](void* p) { return cudaFree(p); }), 0);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(malloc_of(mebibyte), blocks[0]);
}

}  // namespace
}  // namespace cairn::preload
