// How the CUDA driver is opened and let go of, and what is said where that fails. Over the
// simulated libcuda, which is made to be what it takes; over a real one these tests are skipped.
#include <cstdlib>

#include "cairn/allocator.h"
#include "cairn/cuda_driver.h"
#include "driver/conformance/cuda_application.h"
#include "driver/cuda_driver.h"

namespace cairn::conformance {
namespace {

class OpenCudaDriver : public testing::Test {
 protected:
  void SetUp() override {
    api_ = find_application_api();
    if (api_ == nullptr || !api_->is_simulated()) GTEST_SKIP() << "not the simulated libcuda";
    api_->sim_reset();
  }
  void TearDown() override {
    for (const char* variable : {"CAIRN_SIM_DEVICES", "CAIRN_SIM_MEMORY", "CAIRN_SIM_CUDA_VERSION",
                                 "CAIRN_SIM_MISSING", "CAIRN_SIM_PROCESSES"}) {
      unsetenv(variable);
    }
    if (api_ != nullptr && api_->is_simulated()) api_->sim_reset();
  }

  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }
  bool is_primary_context_held(int device) const {
    unsigned int flags = 0;
    int is_active = 0;
    EXPECT_EQ(api_->primary_ctx_get_state(device, &flags, &is_active), CUDA_SUCCESS);
    return is_active != 0;
  }
  static Error reason() {
    const auto driver = open_cuda_driver();
    return driver ? Error{} : driver.error();
  }

  const ApplicationApi* api_ = nullptr;
};

TEST_F(OpenCudaDriver, ItHasTheMachinesDevices) {
  set("CAIRN_SIM_DEVICES", "3");
  set("CAIRN_SIM_MEMORY", "1073741824");
  const auto driver = open_cuda_driver();
  ASSERT_TRUE(driver) << driver.error().message;
  EXPECT_EQ((*driver)->device_count(), 3);
  EXPECT_EQ((*driver)->total_memory(2), Bytes{1073741824});
}

TEST_F(OpenCudaDriver, AContextIsHeldFromTheFirstCallThatNeedsItToTheEnd) {
  set("CAIRN_SIM_DEVICES", "2");
  auto driver = open_cuda_driver();
  ASSERT_TRUE(driver);
  EXPECT_FALSE(is_primary_context_held(0));
  ASSERT_TRUE((*driver)->mem_info(0));
  EXPECT_TRUE(is_primary_context_held(0));
  EXPECT_FALSE(is_primary_context_held(1)) << "a context takes memory of a device";
  *driver = nullptr;
  EXPECT_FALSE(is_primary_context_held(0));
}

TEST_F(OpenCudaDriver, WithoutADeviceItSaysSo) {
  set("CAIRN_SIM_DEVICES", "0");
  EXPECT_EQ(reason().code, ErrorCode::unsupported);
  EXPECT_EQ(reason().message,
            "The CUDA driver finds no GPU (no_device, 100); is one there, and does "
            "CUDA_VISIBLE_DEVICES hide it?");
}

TEST_F(OpenCudaDriver, ADriverOfBeforeCuda12IsTooOld) {
  set("CAIRN_SIM_CUDA_VERSION", "11080");
  EXPECT_EQ(reason().code, ErrorCode::unsupported);
  EXPECT_EQ(reason().message,
            "The CUDA driver is too old: it is for CUDA 11.8, and Cairn needs one for CUDA 12.0 or "
            "later");
}

TEST_F(OpenCudaDriver, ACallThatIsMissingIsNamed) {
  set("CAIRN_SIM_MISSING", "cuStreamGetId");
  EXPECT_EQ(reason().code, ErrorCode::unsupported);
  EXPECT_EQ(reason().message,
            "The CUDA driver, which is for CUDA 13.0, lacks the call cuStreamGetId (as of CUDA "
            "12.0)");
}

TEST_F(OpenCudaDriver, WithoutAnAnswerTheVersionIsUnknown) {
  set("CAIRN_SIM_MISSING", "cuDriverGetVersion");
  EXPECT_EQ(reason().code, ErrorCode::unsupported);
  EXPECT_NE(reason().message.find("does not say its version"), std::string::npos)
      << reason().message;
}

TEST_F(OpenCudaDriver, EventsOfContextsCameWithCuda12Point5) {
  set("CAIRN_SIM_CUDA_VERSION", "12040");
  const auto driver = open_cuda_driver();
  ASSERT_TRUE(driver) << driver.error().message;
  EXPECT_EQ(status_of((*driver)->ctx_record(0, EventHandle{1})), CudaStatus::not_supported);
  EXPECT_EQ(status_of((*driver)->ctx_record(1, EventHandle{1})), CudaStatus::invalid_device);
}

TEST_F(OpenCudaDriver, ItNamesTheProcessesOnADevice) {
  set("CAIRN_SIM_DEVICES", "2");
  set("CAIRN_SIM_PROCESSES", "300");  // More than are asked for at first.
  const auto driver = open_cuda_driver();
  ASSERT_TRUE(driver);
  const auto processes = (*driver)->processes(0);
  ASSERT_EQ(processes.size(), 300u);
  EXPECT_EQ(processes[2].pid, 1003u);
  EXPECT_EQ(processes[2].used, Bytes{std::uint64_t{3} << 20});
  EXPECT_TRUE((*driver)->processes(1).empty()) << "NVML does not know that device";
}

TEST_F(OpenCudaDriver, TheProcessesDriverAndAllocatorComeWhenTheyCan) {
  set("CAIRN_SIM_DEVICES", "0");
  EXPECT_THROW(cuda_driver(), Unsupported);
  EXPECT_THROW(default_allocator(), Unsupported);
  api_->sim_reset();
  set("CAIRN_SIM_DEVICES", "1");
  set("CAIRN_ALLOC_CONF", "nonsense:1");
  EXPECT_THROW(default_allocator(), InvalidArgument);
  unsetenv("CAIRN_ALLOC_CONF");
  Allocator& allocator = default_allocator();
  EXPECT_EQ(&default_allocator(), &allocator);
  EXPECT_EQ(&cuda_driver(), &cuda_driver());
  void* memory = allocator.allocate({1 << 20});
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(allocator.stats(0).num_device_alloc, 1u);
  allocator.free(memory);
  allocator.empty_cache();
}

}  // namespace
}  // namespace cairn::conformance
