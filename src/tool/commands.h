// The commands of `cairn`, each with its options. They give the exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tool/console.h"
#include "tool/load.h"

namespace cairn::tool {

// Runs programs in lockstep with the reference model, with all checkers and the judge.
struct RunCommand {
  std::vector<std::string> files;
  bool with_calls = false;  // The allocator's driver calls are printed.
  LoadOptions load;

  ExitCode operator()(const Console& console) const;
};

// Makes a Program of a recording.
struct ImportCommand {
  std::string file;
  std::string output;  // Empty: the Program goes to `out`, and the report to `err`.
  LoadOptions load;

  ExitCode operator()(const Console& console) const;
};

// Runs long programs at full speed, unchecked but for their addresses, and reports figures.
struct ReplayCommand {
  std::vector<std::string> files;
  int repetitions = 3;
  std::optional<std::string> html;  // Where a page of the run goes.
  LoadOptions load;

  ExitCode operator()(const Console& console) const;
};

}  // namespace cairn::tool
