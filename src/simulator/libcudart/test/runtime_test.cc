// What the simulated runtime promises a program, beyond what program.cu does.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "simulator/libcuda/control.h"
#include "simulator/libcudart/test/runtime_in_test.h"

namespace cairn::simulator {
namespace {

TEST_F(SimulatedRuntime, TheJudgeSeesAUseAfterFree) {
  void* const memory = allocated(4096);
  ASSERT_EQ(cairn_sim_touch(nullptr, memory, 4096, CAIRN_SIM_WRITE), 0);
  EXPECT_EQ(violations(), "");
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  ASSERT_EQ(cairn_sim_touch(nullptr, memory, 16, CAIRN_SIM_READ), 0);
  EXPECT_NE(violations().find("reads 16 bytes"), std::string::npos) << violations();
  EXPECT_NE(violations().find("does not lie in any memory"), std::string::npos) << violations();
}

TEST_F(SimulatedRuntime, TheJudgeSeesWhatAnAllocatorHandsOutAgainTooEarly) {
  void* const memory = allocated(4096);
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ASSERT_EQ(cairn_sim_hand_out(streams[0], memory, 512), 0);
  cairn_sim_touch(streams[0], memory, 512, CAIRN_SIM_WRITE);
  ASSERT_EQ(cairn_sim_take_back(memory, 512, nullptr, 0), 0);
  ASSERT_EQ(cairn_sim_hand_out(streams[1], memory, 512), 0);
  EXPECT_EQ(violations(), "");
  cairn_sim_touch(streams[1], memory, 512, CAIRN_SIM_WRITE);
  EXPECT_NE(violations().find("unordered with an earlier one"), std::string::npos) << violations();
}

TEST_F(SimulatedRuntime, TheJudgeTellsTheProgramsOwnMistakesApart) {
  void* const memory = allocated(4096);
  cudaStream_t streams[2] = {};
  for (cudaStream_t& stream : streams) {
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  }
  ASSERT_EQ(cairn_sim_hand_out(streams[0], memory, 512), 0);
  cairn_sim_touch(streams[1], memory, 512, CAIRN_SIM_WRITE);
  ASSERT_EQ(cairn_sim_take_back(memory, 512, nullptr, 0), 0);  // Not told of streams[1].
  ASSERT_EQ(cairn_sim_hand_out(streams[0], memory, 512), 0);
  EXPECT_EQ(mistakes(), "");
  cairn_sim_touch(streams[0], memory, 512, CAIRN_SIM_WRITE);
  EXPECT_EQ(violations(), "");
  EXPECT_NE(mistakes().find("512 bytes"), std::string::npos) << mistakes();
  EXPECT_EQ(mistakes().find('\n'), mistakes().size() - 1);
}

TEST_F(SimulatedRuntime, TheJudgeEndsTheProgramWhereThatIsWanted) {
  void* const memory = allocated(4096);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  setenv("CAIRN_SIM_JUDGE", "abort", 1);
  EXPECT_DEATH(cudaMemset(memory, 0, 1), "violation: a kernel .* writes 1 bytes?");
}

TEST_F(SimulatedRuntime, AThreadOfAnEarlierMachineGetsOn) {
  std::thread([] {
    allocated(1);
    cairn_sim_reset();
    allocated(1);
  }).join();
  allocated(1);
}

TEST_F(SimulatedRuntime, TheLastErrorIsTheThreadsOwn) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess); }).join();
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(SimulatedRuntime, AFaultOfTheEnvironmentMakesTheCallFail) {
  restart_with("CAIRN_SIM_FAULT", "malloc at=2 error=out_of_memory");
  void* memory = allocated(1);
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorMemoryAllocation);
  allocated(1);
}

TEST_F(SimulatedRuntime, AFaultThatIsNoneIsRefusedInWords) {
  testing::internal::CaptureStderr();
  restart_with("CAIRN_SIM_FAULT", "malloc at=soon");
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorInvalidValue);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("at=soon is none of"), std::string::npos);
}

TEST_F(SimulatedRuntime, WhatAVariableDoesNotTakeIsRefusedInWords) {
  struct Refused {
    const char* variable;
    const char* value;
    const char* words;
  };
  constexpr Refused all[] = {
      {"CAIRN_SIM_DEVICES", "65",
       "CAIRN_SIM_DEVICES is '65'; it takes a whole number from 0 to 64"},
      {"CAIRN_SIM_MEMORY", "80GiB",
       "CAIRN_SIM_MEMORY is '80GiB'; it takes a whole number from 0 to"},
      {"CAIRN_SIM_KERNEL_TICKS", "-1", "CAIRN_SIM_KERNEL_TICKS is '-1'; it takes a whole number"},
      {"CAIRN_SIM_QUERY_TICKS", "soon", "CAIRN_SIM_QUERY_TICKS is 'soon'; it takes a whole number"},
      {"CAIRN_SIM_CUDA_VERSION", "12.4", "CAIRN_SIM_CUDA_VERSION is '12.4'; it takes a whole"},
      {"CAIRN_SIM_PROCESSES", "", "CAIRN_SIM_PROCESSES is ''; it takes a whole number from 0 to"},
      {"CAIRN_SIM_BACKED", "yes", "CAIRN_SIM_BACKED is 'yes'; it takes 0 or 1"},
      {"CAIRN_SIM_FREE_WAITS", "2", "CAIRN_SIM_FREE_WAITS is '2'; it takes 1 or 0"},
      {"CAIRN_SIM_JUDGE", "loud", "CAIRN_SIM_JUDGE is 'loud'; it takes print or quiet or abort"}};
  for (const Refused& each : all) {
    testing::internal::CaptureStderr();
    restart_with(each.variable, each.value);
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorInvalidValue) << each.variable;
    unsetenv(each.variable);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find(each.words), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
  }
}

TEST_F(SimulatedRuntime, WhatIsNotSimulatedSaysSoOnce) {
  testing::internal::CaptureStderr();
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(cudaGraphCreate(&graph, 0), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "cairn: simulated CUDA: cudaGraphCreate is not simulated; not supported (801)\n");
}

TEST_F(SimulatedRuntime, AStaticRuntimeIsToldWhatToDo) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nvcc -cudart shared"), std::string::npos);
}

TEST_F(SimulatedRuntime, BadPointersAndDeadHandlesGiveErrors) {
  int on_stack = 0;
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(reinterpret_cast<void*>(UINTPTR_MAX)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(&on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(&on_stack), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemGetInfo(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventCreateWithFlags(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventRecord(reinterpret_cast<cudaEvent_t>(0x77), nullptr),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamQuery(reinterpret_cast<cudaStream_t>(0x77)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemset(nullptr, 0, 1), cudaErrorInvalidValue);
  void* memory = allocated(1);
  EXPECT_EQ(cudaFreeAsync(memory, reinterpret_cast<cudaStream_t>(0x77)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMallocAsync(&memory, 1, reinterpret_cast<cudaStream_t>(0x77)),
            cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(0x77)), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(SimulatedRuntime, AnswersOfTheJudgeTakeTheRoomThereIs) {
  EXPECT_EQ(cairn_sim_violations(nullptr, 0), 0u);
  int on_stack = 0;
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  char text[] = "before";
  EXPECT_EQ(cairn_sim_violations(text, 0), violations().size());
  EXPECT_STREQ(text, "before");
  EXPECT_EQ(cairn_sim_violations(text, 5), violations().size());
  EXPECT_STREQ(text, "free");
  EXPECT_EQ(cairn_sim_mistakes(nullptr, 0), 0u);
}

TEST_F(SimulatedRuntime, EachDeviceHasItsMemory) {
  restart_with("CAIRN_SIM_DEVICES", "2");
  void* const first = allocated(1);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* const second = allocated(1);
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, second), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(cudaFree(first), cudaSuccess) << "of whatever device";
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(violations(), "");
}

TEST_F(SimulatedRuntime, TheNextAllocationLiesWhereItIsWanted) {
  restart_with("CAIRN_SIM_DEVICES", "2");
  constexpr unsigned long long wanted = 0x7f0000200000;
  ASSERT_EQ(cairn_sim_next_address(1, wanted), 0);
  void* const elsewhere = allocated(1);  // Of device 0.
  EXPECT_NE(elsewhere, reinterpret_cast<void*>(wanted));
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(allocated(1), reinterpret_cast<void*>(wanted));
  EXPECT_NE(allocated(1), reinterpret_cast<void*>(wanted)) << "once";
  EXPECT_NE(cairn_sim_next_address(1, wanted), 0) << "it is taken";
  EXPECT_NE(cairn_sim_next_address(2, wanted), 0) << "there is no such device";
}

TEST_F(SimulatedRuntime, TellsWhatTheDriverWasAsked) {
  allocated(1);
  EXPECT_EQ(calls(), "") << "nobody wanted to be told";
  ASSERT_EQ(cairn_sim_next_address(0, 0x7f0000200000), 0);
  void* const memory = allocated(4096);
  EXPECT_EQ(calls(), "malloc device=0 size=4096 address=0x7f0000200000\n");
  void* none = nullptr;
  EXPECT_EQ(cudaMalloc(&none, std::size_t{1} << 50), cudaErrorMemoryAllocation);
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  calls();
  ASSERT_EQ(cairn_sim_launch(stream, 10), 0);
  ASSERT_EQ(cudaEventRecord(event, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(nullptr, event, 0), cudaSuccess);
  ASSERT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  ASSERT_EQ(cudaStreamQuery(stream), cudaSuccess) << "a query lets time go by";
  std::string told = calls();
  for (const char* handle : {"stream", "event"}) {  // Their numbers are the machine's own.
    const std::string name = std::string(" ") + handle + "=0x";
    for (std::size_t at = told.find(name); at != std::string::npos; at = told.find(name, at + 1)) {
      if (told.compare(at + name.size(), 1, "0") == 0) continue;  // The default stream.
      told.erase(at + name.size(), told.find_first_of(" \n", at + name.size()) - at - name.size());
    }
  }
  EXPECT_EQ(told,
            "event_record device=0 stream=0x event=0x\n"
            "stream_wait device=0 stream=0x0 event=0x\n"
            "event_query device=0 event=0x runs\n"
            "stream_query device=0 stream=0x\n");
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_NE(calls().find("\nfree device=0 address=0x7f0000200000\n"), std::string::npos);
}

TEST_F(SimulatedRuntime, CallsThatDoNotFitStayForTheNextTime) {
  ASSERT_EQ(calls(), "");
  allocated(1);
  const std::size_t length = cairn_sim_take_calls(nullptr, 0);
  std::string text(length, '.');
  EXPECT_EQ(cairn_sim_take_calls(text.data(), length), length) << "no room for the final 0";
  EXPECT_EQ(calls().size(), length);
  EXPECT_EQ(calls(), "");
}

TEST_F(SimulatedRuntime, APoolIsAsGoodAsTheDevice) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  void* memory = nullptr;
  EXPECT_EQ(cudaMallocFromPoolAsync(&memory, 1024, pool, nullptr), cudaSuccess);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_EQ(cudaMallocFromPoolAsync(&memory, 1024, nullptr, nullptr), cudaErrorInvalidValue);
}

TEST_F(SimulatedRuntime, AHostFunctionIsCalledInItsTurn) {
  int called = 0;
  const auto count = [](void* number) { ++*static_cast<int*>(number); };
  EXPECT_EQ(cudaLaunchHostFunc(nullptr, count, &called), cudaSuccess);
  EXPECT_EQ(called, 1);
}

TEST_F(SimulatedRuntime, BothGenerationsShareOneMachine) {
  void* const other = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(other, nullptr) << dlerror();
  const auto mem_get_info =
      reinterpret_cast<decltype(&cudaMemGetInfo)>(dlsym(other, "cudaMemGetInfo"));
  const auto get_version =
      reinterpret_cast<decltype(&cudaRuntimeGetVersion)>(dlsym(other, "cudaRuntimeGetVersion"));
  allocated(std::size_t{1} << 30);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  int version = 0;
  ASSERT_EQ(mem_get_info(&free_bytes, &total_bytes), cudaSuccess);
  EXPECT_EQ(total_bytes - free_bytes, std::size_t{1} << 30);
  EXPECT_EQ(get_version(&version), cudaSuccess);
  EXPECT_EQ(version, 12080);
}

TEST_F(SimulatedRuntime, PropertiesOfTheGenerationBeforeLieWhereItHadThem) {
  void* const other = dlopen("libcudart.so.12", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(other, nullptr) << dlerror();
  for (const char* name : {"cudaGetDeviceProperties", "cudaGetDeviceProperties_v2"}) {
    const auto get = reinterpret_cast<int (*)(void*, int)>(dlsym(other, name));
    const bool is_of_11 = std::strlen(name) == std::strlen("cudaGetDeviceProperties");
    alignas(8) unsigned char properties[1100];
    std::memset(properties, 0xee, sizeof properties);
    ASSERT_EQ(get(properties, 0), 0);
    int multiprocessors = 0;
    std::memcpy(&multiprocessors, properties + 388, sizeof multiprocessors);
    EXPECT_EQ(multiprocessors, 132);
    EXPECT_EQ(properties[is_of_11 ? 728 : 1032], 0xee) << "nothing is written behind its end";
    EXPECT_EQ(properties[is_of_11 ? 727 : 1031], 0);
  }
}

// As CuPy links it, and as Python's cuda.bindings looks calls up: the version that it was made for.
TEST_F(SimulatedRuntime, TheDriverHasCallsInTheVersionThatIsAskedFor) {
  EXPECT_NE(dlsym(RTLD_DEFAULT, "cuLinkCreate_v2"), nullptr);
  void* call = nullptr;
  ASSERT_EQ(cuGetProcAddress("cuCtxGetDevice", &call, 12000, CU_GET_PROC_ADDRESS_DEFAULT, nullptr),
            CUDA_SUCCESS);
  allocated(512);
  CUdevice device = -1;
  EXPECT_EQ(reinterpret_cast<CUresult (*)(CUdevice*)>(call)(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
}

}  // namespace
}  // namespace cairn::simulator
