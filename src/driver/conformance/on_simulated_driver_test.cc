// The conformance suite on the simulated GPU, called directly.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>

#include "driver/conformance/conformance.h"
#include "simulator/simulated_driver.h"
#include "simulator/simulated_gpu.h"

namespace cairn::conformance {
namespace {

using simulator::DeviceOptions;
using simulator::SimulatedDriver;
using simulator::SimulatedGpu;

template <class T>
const T& must(const Result<T, std::string>& result) {
  if (!result) {
    std::fprintf(stderr, "the simulated application failed: %s\n", result.error().c_str());
    std::abort();
  }
  return *result;
}

class SimulatedUnderTest final : public DriverUnderTest {
 public:
  Driver& driver() override { return driver_; }

  StreamRef make_stream(DeviceIndex device, StreamKind kind) override {
    return must(gpu_.make_stream({device, kind == StreamKind::blocking, {}, std::nullopt}));
  }
  StreamRef make_stream_in(DeviceIndex device, ContextHandle context) override {
    return must(gpu_.make_stream({device, false, context, std::nullopt}));
  }
  void destroy_stream(StreamRef stream) override { must(gpu_.destroy_stream(stream, false)); }
  ContextHandle make_context(DeviceIndex device) override {
    return must(gpu_.make_context(device));
  }

  // A kernel each, of which a later one ends later.
  void hold(StreamRef stream) override {
    const std::lock_guard lock(mutex_);
    must(gpu_.launch(stream, {}, last_end_ + ticks_each - now_));
    last_end_ += ticks_each;
    ends_[stream] = last_end_;
  }
  void let_go(StreamRef stream) override {
    const std::lock_guard lock(mutex_);
    const std::uint64_t end = std::max(now_, ends_[stream]);
    gpu_.advance(end - now_);
    now_ = end;
  }

  std::uint64_t current_context() override { return 0; }
  void set_current_context(DeviceIndex, std::uint64_t) override {}
  bool knows_dead_handles() const override { return true; }

 private:
  static constexpr std::uint64_t ticks_each = 1000;

  SimulatedGpu gpu_{{DeviceOptions{}, DeviceOptions{}}};
  SimulatedDriver driver_{gpu_};
  std::mutex mutex_;
  std::uint64_t now_ = 0;  // At most what it is on the simulated GPU, where waiting takes time too.
  std::uint64_t last_end_ = 0;
  std::map<StreamRef, std::uint64_t> ends_;
};

INSTANTIATE_TEST_SUITE_P(On, DriverConformance,
                         testing::Values(MakeDriverUnderTest{
                             "SimulatedDriver",
                             []() -> std::unique_ptr<DriverUnderTest> {
                               return std::make_unique<SimulatedUnderTest>();
                             }}),
                         name_of);

}  // namespace
}  // namespace cairn::conformance
