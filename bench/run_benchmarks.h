// What the benchmark programs have in common: repetitions in turns, medians, and how the contenders
// compare.
#pragma once

#include <string>
#include <vector>

namespace cairn::bench {

// Takes Google Benchmark's flags out of the command line and gives what is left of it. False, which
// is told: a flag that nobody knows, or others where none are expected. --help ends the program;
// `usage` stands before the flags then.
struct CommandLine {
  bool is_good = false;
  std::vector<std::string> others;
};
enum class Others : bool { none, some };
CommandLine read_command_line(int argc, char** argv, const char* usage, Others expected);

// Runs all that is registered. At the end a line for each case that "cairn" and "cub" ran: what
// stands before the last slash of a name is the case, and after it the contender.
void run_benchmarks();

}  // namespace cairn::bench
