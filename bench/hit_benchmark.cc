// What a hit costs (a free and an allocation that the cache serves), beside what it costs
// cub::CachingDeviceAllocator: one process, the same blocks and victims, repetitions in turns,
// medians, processor time. Flags are those of Google Benchmark, e.g.
// --benchmark_filter=same_victim/1000/
#include <benchmark/benchmark.h>

#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "bench/cairn_contender.h"
#include "bench/hit_cases.h"

namespace cairn::bench {
namespace {

// Prints as usual, and at the end how the contenders compare, case by case.
class RatioReporter final : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      const bool is_other = run.run_type == Run::RT_Aggregate && run.aggregate_name != "median";
      if (is_other || run.error_occurred) continue;
      const std::string& name = run.run_name.function_name;
      const std::size_t slash = name.rfind('/');
      // The median comes after what it is the median of.
      times_ns_[name.substr(0, slash)][name.substr(slash + 1)] = run.GetAdjustedCPUTime();
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

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  // Ours first, so that the command line has the last word.
  std::string in_turns = "--benchmark_enable_random_interleaving=true";
  std::string repetitions = "--benchmark_repetitions=9";
  std::string medians = "--benchmark_report_aggregates_only=true";
  std::vector<char*> arguments{argv[0], in_turns.data(), repetitions.data(), medians.data()};
  arguments.insert(arguments.end(), argv + 1, argv + argc);
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 2;

  // Where only one thread ever ran, the C library spares a mutex its atomics. A program that uses
  // CUDA has several.
  std::thread([] {}).join();

  benchmark::AddCustomContext("invariant_level", std::to_string(CAIRN_INVARIANT_LEVEL));
  cairn::bench::register_hits<cairn::bench::CairnContender>("cairn");
  if (!cairn::bench::register_cub()) {
    std::fputs("Built without the CUDA Toolkit: no cub::CachingDeviceAllocator.\n", stderr);
  }
  cairn::bench::RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
