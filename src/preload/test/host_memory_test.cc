// When the host has no memory left in a free, wherever that comes, the free fails or is done, and
// the program holds the block until it is. Here every single allocation of host memory that a free
// makes fails once, those of the simulated CUDA too. For builds with invariants off: checkers
// allocate as well, at places that may not throw.
//
// The library's sources are in the program itself, since a library for LD_PRELOAD has an operator
// new of its own.
#include <cstdlib>
#include <new>

#include "invariants/catalogue/hook.h"
#include "preload/test/preload_in_test.h"

namespace {

thread_local int allocations_until_failure = 0;  // 0: none fails.

// Out of line, so that the compiler does not take a delete that it inlines for a mismatch.
[[gnu::noinline]] void free_host(void* pointer) { std::free(pointer); }

}  // namespace

void* operator new(std::size_t size) {
  if (allocations_until_failure > 0 && --allocations_until_failure == 0) throw std::bad_alloc();
  void* const pointer = std::malloc(size);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}
void operator delete(void* pointer) noexcept { free_host(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { free_host(pointer); }

namespace cairn::preload {
namespace {

// Frees with the 1st, the 2nd, ... allocation failing, until one succeeds: a block that was lost
// would be refused as an invalid value. Gives how often it failed.
template <class Free>
int failures_of(Free&& free) {
  for (int nth = 1; nth < 1000; ++nth) {
    allocations_until_failure = nth;
    const cudaError_t said = free();
    allocations_until_failure = 0;
    if (said == cudaSuccess) return nth - 1;
    EXPECT_EQ(said, cudaErrorMemoryAllocation) << "allocation " << nth;
    if (testing::Test::HasFailure()) break;
  }
  return 0;
}

class PreloadHostMemory : public testing::Test {
 protected:
  void SetUp() override {
    if (invariants::level > 0) GTEST_SKIP() << "the checkers of this build allocate too";
  }
};

TEST_F(PreloadHostMemory, AFreeThatFindsNoneLeavesTheBlockHeld) {
  void* const memory = malloc_of(mebibyte);
  EXPECT_GT(failures_of([&] { return cudaFree(memory); }), 0);
  EXPECT_EQ(malloc_of(mebibyte), memory);
}

TEST_F(PreloadHostMemory, AFreeByEventThatFindsNoneLeavesTheBlockHeld) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  void* const memory = malloc_of(mebibyte);
  EXPECT_GT(failures_of([&] { return cudaFree(memory); }), 0);
  EXPECT_EQ(malloc_of(mebibyte), memory);
}

TEST_F(PreloadHostMemory, AFreeOnAnotherStreamThatFindsNoneLeavesTheBlockHeld) {
  cudaStream_t const owner = new_stream();
  cudaStream_t const other = new_stream();
  void* const memory = malloc_async_of(mebibyte, owner);
  EXPECT_GT(failures_of([&] { return cudaFreeAsync(memory, other); }), 0);
  EXPECT_EQ(malloc_async_of(mebibyte, owner), memory);
}

TEST_F(PreloadHostMemory, AFreeDuringACaptureThatFindsNoneLeavesTheBlockHeld) {
  cudaStream_t const captured = new_stream();
  void* const memory = malloc_of(mebibyte);
  void* const ordered = malloc_async_of(mebibyte, captured);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_GT(failures_of([&] { return cudaFree(memory); }), 0);
  EXPECT_EQ(cudaFreeAsync(ordered, captured), cudaErrorInvalidValue);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(malloc_of(mebibyte), memory);
  EXPECT_EQ(cudaFreeAsync(ordered, captured), cudaSuccess);
}

}  // namespace
}  // namespace cairn::preload
