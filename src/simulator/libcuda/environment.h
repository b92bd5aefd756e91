// The settings of the environment (see control.h) as the machine takes them. What cannot be
// understood is refused in words on stderr.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "driver/fault_injector.h"
#include "simulator/clock.h"
#include "simulator/simulated_gpu.h"

namespace cairn::simulator {

struct MachineSettings {
  std::vector<DeviceOptions> devices;
  std::vector<FaultPlan> faults;
};
// None: some of it is bad.
std::optional<MachineSettings> machine_settings();

int cuda_version();
Ticks kernel_ticks();
bool is_backing_wanted();
bool is_missing(const char* call);

// What `fault` says in a Program, without that word; several with ; between them. None: bad.
std::optional<std::vector<FaultPlan>> parse_faults(std::string_view text);

enum class JudgeReaction { quiet, print, abort };
JudgeReaction judge_reaction();

}  // namespace cairn::simulator
