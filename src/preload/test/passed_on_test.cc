// What goes on to the runtime, what is refused, and what a reset, a capture and a fork leave.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "preload/test/preload_in_test.h"
#include "preload/test/stub.h"

// The toolkit's cuda.h names later ones.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);

namespace cairn::preload {
namespace {

void* pitched_of(std::size_t width, std::size_t height) {
  void* memory = nullptr;
  std::size_t pitch = 0;
  EXPECT_EQ(cudaMallocPitch(&memory, &pitch, width, height), cudaSuccess);
  return memory;
}

TEST(Preloaded, MemoryOfTheRuntimesOwnGoesBackToIt) {
  malloc_of(mebibyte);
  void* from_pool = nullptr;
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  ASSERT_EQ(cudaMallocFromPoolAsync(&from_pool, mebibyte, pool, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFree(from_pool), cudaSuccess);
  EXPECT_EQ(cudaFree(pitched_of(100, 100)), cudaSuccess);
  EXPECT_EQ(cairn_stub_frees(), 2);
}

TEST(Preloaded, NothingAskedForIsTheRuntimesAnswer) {
  void* memory = &memory;
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 1), cudaErrorInvalidValue);
}

TEST(Preloaded, AFreeOfWhatIsNotHeldIsRefusedAndNeverReachesTheDriver) {
  void* const memory = malloc_of(mebibyte);
  void* const inside = static_cast<char*>(memory) + 512;
  cudaStream_t const stream = new_stream();
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaFree(inside), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);  // It is where a segment begins.
  EXPECT_EQ(cudaFreeAsync(memory, stream), cudaErrorInvalidValue);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("frees what it does not hold"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(malloc_of(mebibyte), memory);
  EXPECT_EQ(cairn_stub_frees(), 0);
  EXPECT_EQ(violations(), "");
}

TEST(Preloaded, NoMemoryIsTheRuntimesErrorToo) {
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 200 * mebibyte), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(cudaMallocAsync(&memory, 200 * mebibyte, nullptr), cudaErrorMemoryAllocation);
  malloc_of(mebibyte);
}

TEST(Preloaded, ALimitIsNotGotRoundByTheRuntime) {
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  setenv("CAIRN_ALLOC_CONF", "per_process_memory_fraction:0.5", 1);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 60 * mebibyte), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocAsync(&memory, 60 * mebibyte, nullptr), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
}

TEST(Preloaded, TheCacheMakesRoomForMemoryOfTheRuntimesOwn) {
  setenv("CAIRN_SIM_MEMORY", "104857600", 1);
  ASSERT_EQ(cudaFree(malloc_of(80 * mebibyte)), cudaSuccess);
  EXPECT_NE(pitched_of(mebibyte, 80), nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(Preloaded, CachedMemoryIsSaidToBeFree) {
  std::size_t before = 0;
  std::size_t held = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* const memory = malloc_of(80 * mebibyte);
  ASSERT_EQ(cudaMemGetInfo(&held, &total), cudaSuccess);
  EXPECT_EQ(before - held, 80 * mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
}

TEST(Preloaded, MemoryWhoseEventIsDoneIsSaidToBeFree) {
  setenv("CAIRN_PRELOAD_FREE", "event", 1);
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  cudaStream_t const stream = new_stream();
  void* const memory = malloc_of(80 * mebibyte);
  use_long(stream, memory, mebibyte);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - after, 80 * mebibyte);
  let_time_go_by();
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
}

TEST(Preloaded, AfterAResetNothingOfBeforeIsHandedOut) {
  void* const held = malloc_of(mebibyte);
  void* const freed = malloc_of(40 * mebibyte);
  ASSERT_EQ(cudaFree(freed), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_NE(malloc_of(40 * mebibyte), freed);
  EXPECT_NE(malloc_of(mebibyte), held);
  EXPECT_EQ(cairn_stub_mallocs(), 0);
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(cudaFree(held), cudaErrorInvalidValue) << "the runtime knows it no more";
  EXPECT_EQ(cairn_stub_frees(), 1);
}

TEST(Preloaded, ALostDeviceIsLostInTheRuntimesWordsUntilItIsReset) {
  setenv("CAIRN_SIM_FAULT", "device_sync at=2 error=illegal_address count=3", 1);
  void* const cached = malloc_of(40 * mebibyte);
  void* const memory = malloc_of(mebibyte);
  ASSERT_EQ(cudaFree(cached), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(memory), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaFree(memory), cudaErrorIllegalAddress) << "it is held still";
  cudaDeviceReset();
  cudaGetLastError();
  EXPECT_NE(malloc_of(40 * mebibyte), cached);
  EXPECT_NE(malloc_of(mebibyte), memory);
}

TEST(Preloaded, WhileAStreamIsCapturedTheRuntimeServesAndAFreeIsPostponed) {
  cudaStream_t const captured = new_stream();
  cudaStream_t const other = new_stream();
  void* const memory = malloc_of(mebibyte);
  void* const ordered = malloc_async_of(mebibyte, other);
  hand_out(other, memory, mebibyte);
  use_long(other, memory, mebibyte);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  void* const from_graph = malloc_async_of(mebibyte, captured);
  malloc_async_of(mebibyte, other);
  EXPECT_EQ(cairn_stub_mallocs_async(), 2);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(ordered, other), cudaSuccess);
  EXPECT_FALSE(is_idle(other)) << "nothing waits during a capture";
  EXPECT_NE(malloc_of(mebibyte), memory);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  take_back(memory, mebibyte);
  EXPECT_EQ(malloc_of(mebibyte), memory);
  EXPECT_TRUE(is_idle(other)) << "and then it is waited";
  EXPECT_EQ(malloc_async_of(mebibyte, other), ordered);
  EXPECT_EQ(cudaFree(from_graph), cudaSuccess);
  EXPECT_EQ(cairn_stub_frees(), 1);
}

TEST(Preloaded, ACaptureThatAnotherWayBeganIsSeenOnItsStream) {
  cudaStream_t const captured = new_stream();
  void* const memory = malloc_async_of(mebibyte, captured);
  cairn_stub_begin_capture(captured);
  malloc_async_of(mebibyte, captured);
  EXPECT_EQ(cairn_stub_mallocs_async(), 1);
  EXPECT_EQ(cudaFreeAsync(memory, captured), cudaErrorInvalidValue);
}

TEST(Preloaded, ACaptureThatAnotherWayEndedIsOver) {
  cudaStream_t const captured = new_stream();
  void* const memory = malloc_of(mebibyte);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_NE(malloc_of(mebibyte), nullptr);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
  cairn_stub_end_capture(captured);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(malloc_of(mebibyte), memory);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
}

TEST(Preloaded, ACaptureGoesOnWhenADefaultStreamCannotBeDestroyed) {
  void* const memory = malloc_of(mebibyte);
  ASSERT_EQ(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_NE(cudaStreamDestroy(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_NE(malloc_of(mebibyte), memory) << "the free is postponed";
  EXPECT_EQ(cairn_stub_mallocs(), 1);
}

TEST(Preloaded, AGraphDoesNotFreeWhatItDidNotAllocate) {
  cudaStream_t const captured = new_stream();
  void* const memory = malloc_async_of(mebibyte, captured);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, captured), cudaErrorInvalidValue);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, captured), cudaSuccess) << "it is held still";
}

TEST(Preloaded, AStreamDestroyedDuringACaptureIsWaitedForAfterIt) {
  cudaStream_t const captured = new_stream();
  cudaStream_t const other = new_stream();
  cudaStream_t const witness = new_stream();
  use_long(witness, malloc_async_of(mebibyte, other), mebibyte);
  ASSERT_EQ(cudaStreamBeginCapture(captured, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_FALSE(is_idle(witness));
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(captured, &graph), cudaSuccess);
  malloc_of(mebibyte);
  EXPECT_TRUE(is_idle(witness));
}

TEST(Preloaded, IpcOfAPartOfASegmentIsRefused) {
  void* const memory = malloc_of(mebibyte);
  void* const runtimes_own = pitched_of(100, 100);
  cudaIpcMemHandle_t handle{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, runtimes_own), cudaSuccess);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("CAIRN_PRELOAD_IPC=1"), std::string::npos) << said;
}

TEST(Preloaded, IpcHasMemoryOfTheRuntimesOwnWhereThatIsAskedFor) {
  setenv("CAIRN_PRELOAD_IPC", "1", 1);
  void* const memory = malloc_of(mebibyte);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
  malloc_async_of(mebibyte, new_stream());
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
  cudaIpcMemHandle_t handle{};
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaSuccess);
  EXPECT_EQ(std::memcmp(&handle, &memory, sizeof memory), 0);
}

TEST(Preloaded, AChildOfForkIsTheRuntimesAlone) {
  void* const memory = malloc_of(mebibyte);
  const pid_t child = fork();
  if (child == 0) {
    void* pointer = nullptr;
    cudaMalloc(&pointer, mebibyte);
    cudaFree(memory);
    _exit(cairn_stub_mallocs() == 1 && cairn_stub_frees() == 1 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

// Else it would say what the process has done, and wait for what another thread has locked.
TEST(Preloaded, AChildOfForkReportsNothing) {
  setenv("CAIRN_PRELOAD_REPORT", "1", 1);
  malloc_of(mebibyte);
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    std::exit(0);
  }
  close(ends[1]);
  char said = 0;
  EXPECT_EQ(read(ends[0], &said, 1), 0) << "it says something";
  close(ends[0]);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(Preloaded, AnotherContextThanThePrimaryOneIsTheRuntimesAlone) {
  malloc_of(mebibyte);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  malloc_of(mebibyte);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
}

TEST(Preloaded, APrimaryContextIsNotMadeForAProgramThatHasAnother) {
  ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  malloc_of(mebibyte);
  EXPECT_EQ(cairn_stub_mallocs(), 1);
  unsigned int flags = 0;
  int is_active = -1;
  ASSERT_EQ(cuDevicePrimaryCtxGetState(0, &flags, &is_active), CUDA_SUCCESS);
  EXPECT_EQ(is_active, 0);
}

TEST(Preloaded, PoolsThatTheProgramShapesAreTheRuntimesAlone) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  malloc_async_of(mebibyte, nullptr);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
  EXPECT_NE(cudaDeviceSetMemPool(99, pool), cudaSuccess);
  EXPECT_NE(cudaMemPoolSetAccess(nullptr, nullptr, 0), cudaSuccess);
  malloc_async_of(mebibyte, nullptr);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
  ASSERT_EQ(cudaDeviceSetMemPool(0, pool), cudaSuccess);
  malloc_async_of(mebibyte, nullptr);
  EXPECT_EQ(cairn_stub_mallocs_async(), 1);
}

TEST(Preloaded, PoolsThatAreSetByTheNameOfCuda13AreTheRuntimesAlone) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  cudaMemLocation location{};
  location.type = cudaMemLocationTypeDevice;
  EXPECT_NE(cudaMemSetMemPool(nullptr, cudaMemAllocationTypePinned, pool), cudaSuccess);
  malloc_async_of(mebibyte, nullptr);
  EXPECT_EQ(cairn_stub_mallocs_async(), 0);
  ASSERT_EQ(cudaMemSetMemPool(&location, cudaMemAllocationTypePinned, pool), cudaSuccess);
  malloc_async_of(mebibyte, nullptr);
  EXPECT_EQ(cairn_stub_mallocs_async(), 1);
}

TEST(Preloaded, BadSettingsAreSaidOnceAndNothingIsServed) {
  setenv("CAIRN_PRELOAD_FREE", "sometimes", 1);
  testing::internal::CaptureStderr();
  void* const memory = malloc_of(mebibyte);
  malloc_of(mebibyte);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("CAIRN_PRELOAD_FREE is 'sometimes', allowed are synchronize and event"),
            std::string::npos)
      << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(cairn_stub_mallocs(), 2);
}

TEST(Preloaded, AllBadSettingsAreSaid) {
  setenv("CAIRN_PRELOAD_FREE", "sometimes", 1);
  setenv("CAIRN_PRELOAD_IPC", "yes", 1);
  setenv("CAIRN_PRELOAD_REPORT", "2", 1);
  testing::internal::CaptureStderr();
  malloc_of(mebibyte);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("CAIRN_PRELOAD_FREE is 'sometimes', allowed are synchronize and event; "
                      "CAIRN_PRELOAD_IPC is 'yes', allowed are 0 and 1; "
                      "CAIRN_PRELOAD_REPORT is '2', allowed are 0 and 1\n"),
            std::string::npos)
      << said;
  EXPECT_EQ(cairn_stub_mallocs(), 1);
}

TEST(Preloaded, BadSettingsOfTheAllocatorAreSaidOnceAndNothingIsServed) {
  setenv("CAIRN_ALLOC_CONF", "max_split_size_mb:many", 1);
  testing::internal::CaptureStderr();
  malloc_of(mebibyte);
  malloc_async_of(mebibyte, nullptr);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("CAIRN_ALLOC_CONF"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(cairn_stub_mallocs(), 1);
  EXPECT_EQ(cairn_stub_mallocs_async(), 1);
}

TEST(Preloaded, ManyThreadsShareIt) {
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([] {
      cudaStream_t const stream = new_stream();
      for (int round = 0; round < 200; ++round) {
        void* const memory = malloc_of(1000);
        void* const ordered = malloc_async_of(1000, stream);
        hand_out(stream, memory, 1000);
        use_long(stream, memory, 1000);
        take_back(memory, 1000);
        EXPECT_EQ(cudaFreeAsync(ordered, stream), cudaSuccess);
        EXPECT_EQ(cudaFree(memory), cudaSuccess);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(cairn_stub_mallocs(), 0);
}

}  // namespace
}  // namespace cairn::preload
