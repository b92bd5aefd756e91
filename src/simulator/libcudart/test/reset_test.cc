// What a reset of a device ends, and what it leaves.
#include <cuda.h>

#include "simulator/libcudart/test/runtime_in_test.h"

// The toolkit's cuda.h names later ones.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);

namespace cairn::simulator {
namespace {

TEST_F(SimulatedRuntime, ALostDeviceStaysLostUntilItIsReset) {
  restart_with("CAIRN_SIM_FAULT", "device_sync error=illegal_address");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_EQ(cudaMalloc(&memory, 1), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  EXPECT_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  allocated(1);
}

TEST_F(SimulatedRuntime, AResetGivesBackWhatTheDeviceHad) {
  restart_with("CAIRN_SIM_DEVICES", "2");
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* const memory = allocated(4096);
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 4096), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreateWithFlags(&event, 0), cudaSuccess);
  ASSERT_EQ(cairn_sim_hand_out(stream, memory, 4096), 0);
  ASSERT_EQ(cairn_sim_touch(stream, memory, 4096, CAIRN_SIM_WRITE), 0);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  void* const of_other = allocated(4096);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);

  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(after, before);
  EXPECT_EQ(violations(), "") << "what is held is no more";
  EXPECT_EQ(cudaFreeHost(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaFree(of_other), cudaSuccess) << "another device has its own";
  EXPECT_EQ(violations(), "");
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorInvalidResourceHandle);
  EXPECT_NE(violations().find("which was given back before"), std::string::npos) << violations();
  EXPECT_NE(violations().find("which was destroyed"), std::string::npos) << violations();
}

TEST_F(SimulatedRuntime, AfterAResetTheJudgeSeesWhoUsesWhatWasBefore) {
  void* const memory = allocated(4096);
  ASSERT_EQ(cairn_sim_hand_out(nullptr, memory, 512), 0);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  ASSERT_EQ(cairn_sim_touch(nullptr, memory, 16, CAIRN_SIM_READ), 0);
  ASSERT_EQ(cairn_sim_take_back(memory, 512, nullptr, 0), 0);
  EXPECT_NE(violations().find("does not lie in any memory"), std::string::npos) << violations();
  EXPECT_NE(violations().find("which the program does not hold"), std::string::npos)
      << violations();
}

TEST_F(SimulatedRuntime, AResetLeavesWhatIsOfAnotherContext) {
  allocated(4096);
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuCtxCreate_v2(&context, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc(&memory, 4096), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(context), CUDA_SUCCESS);
  EXPECT_EQ(violations(), "");
}

}  // namespace
}  // namespace cairn::simulator
