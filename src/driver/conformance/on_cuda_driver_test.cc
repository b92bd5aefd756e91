// The conformance suite on the CUDA driver: over the simulated libcuda.so.1 where LD_LIBRARY_PATH
// names its folder, else over the machine's own.
#include <cstdlib>
#include <stdexcept>

#include "driver/conformance/cuda_application.h"
#include "driver/cuda_driver.h"

namespace cairn::conformance {
namespace {

std::unique_ptr<DriverUnderTest> make_cuda() {
  const ApplicationApi* api = find_application_api();
  if (api == nullptr) return nullptr;
  if (api->is_simulated()) {
    api->sim_reset();
    setenv("CAIRN_SIM_DEVICES", "2", 1);
  }
  auto driver = open_cuda_driver();
  if (!driver) {
    if (api->is_simulated()) throw std::runtime_error(driver.error().message);
    return nullptr;
  }
  if (api->is_simulated()) {
    return std::make_unique<SimulatedCudaApplication>(*api, std::move(*driver));
  }
  return std::make_unique<RealCudaApplication>(*api, std::move(*driver));
}

INSTANTIATE_TEST_SUITE_P(On, DriverConformance,
                         testing::Values(MakeDriverUnderTest{"CudaDriver", make_cuda}), name_of);

}  // namespace
}  // namespace cairn::conformance
