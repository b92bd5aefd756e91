// How the tests play the GPU's part.
#include "preload/test/preload_in_test.h"
#include "simulator/libcuda/control.h"

namespace cairn::preload {
namespace {

constexpr unsigned long long long_time = 1'000'000'000;

}  // namespace

void use_long(cudaStream_t stream, void* memory, std::size_t size) {
  EXPECT_EQ(cairn_sim_launch(stream, long_time), 0);
  EXPECT_EQ(cairn_sim_touch(stream, memory, size, CAIRN_SIM_WRITE), 0);
}

void let_time_go_by() { cairn_sim_advance(2 * long_time); }

std::string violations() {
  char text[4096] = {};
  cairn_sim_violations(text, sizeof text);
  return text;
}

void hand_out(cudaStream_t stream, void* memory, std::size_t size) {
  EXPECT_EQ(cairn_sim_hand_out(stream, memory, size), 0);
}

void take_back(void* memory, std::size_t size) {
  EXPECT_EQ(cairn_sim_take_back(memory, size, nullptr, 0), 0);
}

}  // namespace cairn::preload
