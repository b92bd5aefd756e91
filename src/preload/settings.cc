#include "preload/settings.h"

#include <cstdlib>
#include <string_view>

namespace cairn::preload {
namespace {

// Whether the variable has the value `on`; one more fault where it has neither that nor `off`.
bool is_on(const char* variable, std::string_view off, std::string_view on, std::string& fault) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || text == off) return false;
  if (text == on) return true;
  if (!fault.empty()) fault += "; ";
  fault += std::string(variable) + " is '" + text + "', allowed are " + std::string(off) + " and " +
           std::string(on);
  return false;
}

Settings read() {
  Settings read;
  read.frees_by_event = is_on("CAIRN_PRELOAD_FREE", "synchronize", "event", read.fault);
  read.shares_memory = is_on("CAIRN_PRELOAD_IPC", "0", "1", read.fault);
  read.reports = is_on("CAIRN_PRELOAD_REPORT", "0", "1", read.fault);
  return read;
}

}  // namespace

const Settings& settings() {
  static const auto* const the_settings = new Settings(read());  // For the report at the very end.
  return *the_settings;
}

}  // namespace cairn::preload
