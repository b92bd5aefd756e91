#include "bench/run_benchmarks.h"

#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <thread>

namespace cairn::bench {
namespace {

class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const bool is_other = run.run_type == Run::RT_Aggregate && run.aggregate_name != "median";
      if (is_other || run.error_occurred) continue;
      const std::string& name = run.run_name.function_name;
      const std::size_t slash = name.rfind('/');
      // Of several threads the wall clock counts. The median comes after what it is the median of.
      times_ns_[name.substr(0, slash)][name.substr(slash + 1)] =
          run.run_name.threads.empty() ? run.GetAdjustedCPUTime() : run.GetAdjustedRealTime();
    }
    ConsoleReporter::ReportRuns(runs);
  }

  void Finalize() override {
    for (const auto& [name, contenders] : times_ns_) {
      const auto cairn = contenders.find("cairn");
      const auto cub = contenders.find("cub");
      if (cairn == contenders.end() || cub == contenders.end()) continue;
      GetOutputStream() << "cairn/cub " << name << ": " << cairn->second / cub->second << " ("
                        << cairn->second << " ns / " << cub->second << " ns)\n";
    }
  }

 private:
  std::map<std::string, std::map<std::string, double>> times_ns_;  // By case, by contender.
};

const char* usage_of_program = "";

void print_help() {
  std::printf("%s\n\nFlags, all of them Google Benchmark's:\n\n", usage_of_program);
  benchmark::PrintDefaultHelp();
}

}  // namespace

CommandLine read_command_line(int argc, char** argv, const char* usage, Others expected) {
  // Ours first, so that the command line has the last word.
  std::string in_turns = "--benchmark_enable_random_interleaving=true";
  std::string repetitions = "--benchmark_repetitions=5";
  std::string medians = "--benchmark_report_aggregates_only=true";
  std::string shortly = "--benchmark_min_time=0.1";
  std::vector<char*> arguments{argv[0], in_turns.data(), repetitions.data(), medians.data(),
                               shortly.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  usage_of_program = usage;
  benchmark::Initialize(&count, arguments.data(), print_help);
  CommandLine line;
  for (int i = 1; i < count; ++i) line.others.emplace_back(arguments[static_cast<std::size_t>(i)]);
  for (const std::string& other : line.others) {
    if (!other.starts_with('-')) continue;
    std::fprintf(stderr, "%s: unknown flag %s\n", argv[0], other.c_str());
    return line;
  }
  line.is_good = line.others.empty() == (expected == Others::none);
  if (!line.is_good) std::fprintf(stderr, "%s\n", usage);
  return line;
}

void run_benchmarks() {
  // Where only one thread ever ran, the C library spares a mutex its atomics. A program that uses
  // CUDA has several.
  std::thread([] {}).join();
  benchmark::AddCustomContext("invariant_level", std::to_string(CAIRN_INVARIANT_LEVEL));
  benchmark::AddCustomContext("compiler", __VERSION__);
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
}

}  // namespace cairn::bench
