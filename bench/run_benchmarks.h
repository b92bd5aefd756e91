// What the benchmark programs have in common: repetitions in turns, medians, and how the contenders
// compare.
#pragma once

#include <string>
#include <vector>

namespace cairn::bench {

// Takes Google Benchmark's flags out of the command line and gives what is left of it. False: a
// flag that nobody knows, or more than `most_others` other arguments.
struct CommandLine {
  bool is_good = false;
  std::vector<std::string> others;
};
CommandLine read_command_line(int argc, char** argv, int most_others);

// Runs all that is registered. At the end a line for each case that "cairn" and "cub" ran: what
// stands before the last slash of a name is the case, and after it the contender.
void run_benchmarks();

}  // namespace cairn::bench
