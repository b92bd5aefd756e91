// A machine of its own for each test of the simulated runtime.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "simulator/libcuda/control.h"

namespace cairn::simulator {

class SimulatedRuntime : public testing::Test {
 protected:
  void SetUp() override { restart(); }
  void TearDown() override {
    for (const char* variable : {"CAIRN_SIM_DEVICES", "CAIRN_SIM_FAULT", "CAIRN_SIM_JUDGE"}) {
      unsetenv(variable);
    }
    restart();
  }

  static void restart() {
    cairn_sim_reset();
    cudaSetDevice(0);
    cudaDeviceReset();
    cudaGetLastError();
  }
  static void restart_with(const char* variable, const char* value) {
    setenv(variable, value, 1);
    restart();
  }
  static std::string violations() {
    char text[4096] = {};
    cairn_sim_violations(text, sizeof text);
    return text;
  }
  static std::string mistakes() {
    char text[4096] = {};
    cairn_sim_mistakes(text, sizeof text);
    return text;
  }
  // What the driver was asked since this was last called.
  static std::string calls() {
    std::string text(cairn_sim_take_calls(nullptr, 0), '\0');
    cairn_sim_take_calls(text.data(), text.size() + 1);
    return text;
  }
  static void* allocated(std::size_t size) {
    void* memory = nullptr;
    EXPECT_EQ(cudaMalloc(&memory, size), cudaSuccess);
    return memory;
  }
};

}  // namespace cairn::simulator
