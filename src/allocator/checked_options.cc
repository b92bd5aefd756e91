#include "allocator/checked_options.h"

#include <cstdio>
#include <string>
#include <utility>

#include "allocator/all_devices.h"
#include "allocator/error_text.h"
#include "cairn/errors.h"
#include "invariants/catalogue/hook.h"

namespace cairn {

Options checked(Options options) {
  const std::string fault = find_fault(options);
  if (!fault.empty()) {
    CAIRN_PROBE("options.at_fault");
    throw InvalidArgument({ErrorCode::invalid_argument, 0, fault});
  }
  const std::string unsupported = unsupported_setting_in(options);
  if (!unsupported.empty()) {
    CAIRN_PROBE("options.unsupported");
    throw_error(unsupported_setting(unsupported));
  }
  return options;
}

Options checked(ParsedSettings settings) {
  for (const std::string& warning : settings.warnings) {
    std::fprintf(stderr, "cairn: warning: %s\n", warning.c_str());
  }
  if (!settings.ok) {
    CAIRN_PROBE("settings.unreadable");
    throw InvalidArgument({ErrorCode::invalid_argument, 0, std::move(settings.error.message)});
  }
  return checked(std::move(settings.options));
}

Options options_from_environment() {
  try {
    return checked(settings_from_environment());
  } catch (const Unsupported& refused) {
    CAIRN_PROBE("environment.unsupported");
    Error error = refused.error();
    error.message +=
        ". It is from the environment: the first that is set of CAIRN_ALLOC_CONF, "
        "PYTORCH_CUDA_ALLOC_CONF and PYTORCH_ALLOC_CONF counts";
    throw_error(std::move(error));
  }
}

}  // namespace cairn
