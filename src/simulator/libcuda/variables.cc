#include "simulator/libcuda/variables.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>

namespace cairn::simulator {
namespace {

void refuse_value(const char* name, const char* text, const std::string& taken) {
  refuse(std::string(name) + " is '" + text + "'; it takes " + taken);
}

}  // namespace

// Programs ask for the machine again and again.
void refuse(const std::string& why) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (!said->insert(why).second) return;
  std::fprintf(stderr, "cairn: simulated CUDA: %s\n", why.c_str());
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec != std::errc{} || end.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

const char* text_of_variable(const char* name) { return std::getenv(name); }

std::optional<std::uint64_t> value_of(const NumberVariable& variable) {
  const char* const text = text_of_variable(variable.name);
  if (text == nullptr) return variable.otherwise;
  const auto number = whole_number(text);
  if (number && *number <= variable.most) return number;
  refuse_value(variable.name, text, "a whole number from 0 to " + std::to_string(variable.most));
  return std::nullopt;
}

std::optional<std::size_t> value_of(const WordVariable& variable) {
  const char* const text = text_of_variable(variable.name);
  if (text == nullptr) return 0;
  std::string taken;
  for (std::size_t i = 0; i < std::size(variable.words) && variable.words[i] != nullptr; ++i) {
    if (std::string_view(variable.words[i]) == text) return i;
    if (i != 0) taken += " or ";
    taken += variable.words[i];
  }
  refuse_value(variable.name, text, taken);
  return std::nullopt;
}

bool are_variables_good() {
  using namespace variables;
  bool all = true;
  for (const auto& each : {devices, memory, kernel_ticks, query_ticks, cuda_version, processes}) {
    all = value_of(each).has_value() && all;
  }
  for (const auto& each : {backed, free_waits, judge}) all = value_of(each).has_value() && all;
  return all;
}

}  // namespace cairn::simulator
