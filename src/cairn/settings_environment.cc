#include "cairn/settings_environment.h"

#include <cstdlib>
#include <string>

namespace cairn {
namespace settings {
namespace {

struct Variable {
  const char* name;
  SettingsDialect dialect;
};

constexpr Variable variables[] = {
    {"CAIRN_ALLOC_CONF", SettingsDialect::cairn},
    {"PYTORCH_CUDA_ALLOC_CONF", SettingsDialect::pytorch},
    {"PYTORCH_ALLOC_CONF", SettingsDialect::pytorch},
};

ParsedSettings from_variable(const Variable& variable, const char* text) {
  ParsedSettings parsed = parse_settings(text, {}, variable.dialect);
  const std::string prefix = std::string(variable.name) + ": ";
  for (std::string& warning : parsed.warnings) warning.insert(0, prefix);
  if (!parsed.ok) parsed.error.message.insert(0, prefix);
  return parsed;
}

}  // namespace

ParsedSettings from_variables(const char* (*value_of)(const char* name)) {
  for (const Variable& variable : variables) {
    if (const char* const text = value_of(variable.name)) return from_variable(variable, text);
  }
  return parse_settings("");
}

}  // namespace settings

ParsedSettings settings_from_environment() {
  return settings::from_variables(
      [](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace cairn
