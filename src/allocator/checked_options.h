// Options as an allocator takes them: without contradiction, and nothing in them that is not
// supported yet.
#pragma once

#include "cairn/options.h"

namespace cairn {

// Throw InvalidArgument or Unsupported.
Options checked(Options options);
Options checked(ParsedSettings settings);  // Its warnings are printed on stderr.
Options options_from_environment();

}  // namespace cairn
