// The command line of `cairn`: which command runs, with which options.
#pragma once

#include <ostream>

namespace cairn::tool {

// Gives the exit code. Results go to `out`, complaints and progress to `err`.
int run_cli(int argc, const char* const* argv, std::ostream& out, std::ostream& err);

}  // namespace cairn::tool
