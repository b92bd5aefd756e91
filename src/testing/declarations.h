// What the declarations of a Program say together, wherever they stand.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cairn/options.h"
#include "simulator/simulated_gpu.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

// What the `conf` lines say.
struct Settings {
  Options options;  // The defaults where they cannot be used.
  std::vector<std::string> warnings;
  // Which of the `conf` lines is to blame, and the result of its step.
  std::optional<std::pair<std::size_t, StepResult>> fault;
};
Settings read_settings(const Program& program);

// The devices of the `gpu` lines, and those below the highest.
std::vector<simulator::DeviceOptions> declared_devices(const Program& program);

}  // namespace cairn::testing
