#include "simulator/libcuda/environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sstream>
#include <string>

namespace cairn::simulator {
namespace {

// Programs ask for the machine again and again: the same is said once.
void refuse(const std::string& why) {
  static std::mutex mutex;
  static std::string said;
  const std::lock_guard lock(mutex);
  if (why == said) return;
  said = why;
  std::fprintf(stderr, "cairn: simulated CUDA: %s\n", why.c_str());
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> number_of(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  if (text == nullptr) return otherwise;
  const auto number = parse_number(text);
  if (!number) refuse(std::string(name) + "=" + text + ": not a number");
  return number;
}

// One word behind the call: at=3, error=unknown, count=forever, sticky. False: none of them.
bool take_word(const std::string& word, FaultPlan& plan) {
  const std::size_t equals = word.find('=');
  const std::string key = word.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
  const auto number = parse_number(value);
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
  constexpr std::uint64_t most_devices = 64;
  const auto count = number_of("CAIRN_SIM_DEVICES", 1);
  const auto memory = number_of("CAIRN_SIM_MEMORY", DeviceOptions{}.memory.count);
  if (!count || !memory) return std::nullopt;
  // Each device has 2^40 addresses of its own.
  if (*count > most_devices || *memory > std::uint64_t{1} << 40) {
    refuse("at most 64 devices of 1 TiB can be simulated");
    return std::nullopt;
  }
  DeviceOptions device;
  device.memory.count = *memory;
  const char* const faults = std::getenv("CAIRN_SIM_FAULT");
  const auto plans = parse_faults(faults == nullptr ? "" : faults);
  if (!plans) return std::nullopt;
  return MachineSettings{std::vector<DeviceOptions>(static_cast<std::size_t>(*count), device),
                         *plans};
}

int cuda_version() {
  return static_cast<int>(number_of("CAIRN_SIM_CUDA_VERSION", 13000).value_or(13000));
}

Ticks kernel_ticks() { return number_of("CAIRN_SIM_KERNEL_TICKS", 1000).value_or(1000); }

bool is_missing(const char* call) {
  const char* const missing = std::getenv("CAIRN_SIM_MISSING");
  return missing != nullptr && std::string_view(missing) == call;
}

JudgeReaction judge_reaction() {
  const char* const text = std::getenv("CAIRN_SIM_JUDGE");
  if (text == nullptr || std::string_view(text) == "print") return JudgeReaction::print;
  if (std::string_view(text) == "quiet") return JudgeReaction::quiet;
  if (std::string_view(text) == "abort") return JudgeReaction::abort;
  refuse(std::string("CAIRN_SIM_JUDGE=") + text + ": none of quiet, print, abort");
  return JudgeReaction::abort;
}

}  // namespace cairn::simulator
