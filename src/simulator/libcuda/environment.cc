#include "simulator/libcuda/environment.h"

#include <sstream>
#include <string>

#include "simulator/libcuda/variables.h"

namespace cairn::simulator {
namespace {

// One word behind the call: at=3, error=unknown, count=forever, sticky. False: none of them.
bool take_word(const std::string& word, FaultPlan& plan) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  const auto number = whole_number(value);
  if (key == "sticky") return plan.sticky = equals == std::string::npos;
  if (key == "count" && value == "forever") {
    plan.count = std::nullopt;
    return true;
  }
  if (key == "error") {
    const auto error = cuda_status_from(value);
    plan.error = error.value_or(CudaStatus::success);
    return plan.error != CudaStatus::success;
  }
  if (!number || *number == 0) return false;
  if (key == "at") plan.at = *number;
  if (key == "count") plan.count = number;
  return key == "at" || key == "count";
}

// The driver's calls that can fail are those that Cairn makes.
bool can_fail(DriverCall call) {
  switch (call) {
    case DriverCall::malloc:
    case DriverCall::free:
    case DriverCall::mem_info:
    case DriverCall::event_create:
    case DriverCall::event_record:
    case DriverCall::event_query:
    case DriverCall::event_sync:
    case DriverCall::event_destroy:
    case DriverCall::stream_sync:
    case DriverCall::device_sync:
    case DriverCall::ctx_record:
    case DriverCall::stream_ctx:
    case DriverCall::stream_id:
      return true;
    default:
      return false;
  }
}

std::optional<FaultPlan> parse_fault(const std::string& text) {
  std::istringstream words(text);
  std::string word;
  words >> word;
  const auto call = driver_call_from(word);
  if (!call || !can_fail(*call)) {
    refuse("CAIRN_SIM_FAULT: " + word + " is no call that can fail");
    return std::nullopt;
  }
  FaultPlan plan;
  plan.call = *call;
  while (words >> word) {
    if (take_word(word, plan)) continue;
    refuse("CAIRN_SIM_FAULT: " + word +
           " is none of at=N, error=NAME, count=N, count=forever, sticky");
    return std::nullopt;
  }
  return plan;
}

}  // namespace

std::optional<std::vector<FaultPlan>> parse_faults(std::string_view text) {
  std::vector<FaultPlan> plans;
  std::istringstream statements{std::string(text)};
  for (std::string statement; std::getline(statements, statement, ';');) {
    const auto plan = parse_fault(statement);
    if (!plan) return std::nullopt;
    plans.push_back(*plan);
  }
  return plans;
}

std::optional<MachineSettings> machine_settings() {
  const char* const faults = text_of_variable("CAIRN_SIM_FAULT");
  const auto plans = parse_faults(faults == nullptr ? "" : faults);
  if (!are_variables_good() || !plans) return std::nullopt;
  DeviceOptions device;
  device.memory.count = *value_of(variables::memory);
  const std::size_t count = *value_of(variables::devices);
  return MachineSettings{std::vector<DeviceOptions>(count, device), *plans};
}

int cuda_version() {
  const auto& variable = variables::cuda_version;
  return static_cast<int>(value_of(variable).value_or(variable.otherwise));
}

Ticks kernel_ticks() {
  const auto& variable = variables::kernel_ticks;
  return value_of(variable).value_or(variable.otherwise);
}

bool is_missing(const char* call) {
  const char* const missing = text_of_variable("CAIRN_SIM_MISSING");
  return missing != nullptr && std::string_view(missing) == call;
}

bool is_backing_wanted() { return value_of(variables::backed) == 1; }

JudgeReaction judge_reaction() {
  constexpr JudgeReaction reactions[] = {JudgeReaction::print, JudgeReaction::quiet,
                                         JudgeReaction::abort};
  const auto chosen = value_of(variables::judge);
  return chosen ? reactions[*chosen] : JudgeReaction::abort;
}

}  // namespace cairn::simulator
