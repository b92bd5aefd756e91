// Which variable the settings are taken from. Not part of the public contract.
#pragma once

#include "cairn/options.h"

namespace cairn::settings {

// As settings_from_environment, with `value_of` in the place of std::getenv.
ParsedSettings from_variables(const char* (*value_of)(const char* name));

}  // namespace cairn::settings
