// Recorded traces, replayed from an empty allocator: the time of a step, beside
// cub::CachingDeviceAllocator and beside a call of the driver for each request.
//
//     trace_benchmark FILE... [flags of Google Benchmark]
#include <cstdio>
#include <limits>
#include <memory>
#include <string>

#include "bench/contenders.h"
#include "bench/replay_cases.h"
#include "bench/run_benchmarks.h"
#include "bench/trace_sequences.h"

int main(int argc, char** argv) {
  using namespace cairn::bench;
  const CommandLine line = read_command_line(argc, argv, std::numeric_limits<int>::max());
  if (!line.is_good || line.others.empty()) {
    std::fputs("usage: trace_benchmark FILE... [flags of Google Benchmark]\n", stderr);
    return 2;
  }
  for (const std::string& file : line.others) {
    auto read = read_sequence(file);
    if (!read) {
      std::fprintf(stderr, "trace_benchmark: %s: %s\n", file.c_str(), read.error().c_str());
      return 2;
    }
    const auto sequence = std::make_shared<const Sequence>(std::move(*read));
    for_each_contender([&]<class Contender> { register_replay<Contender>("trace", sequence); });
  }
  run_benchmarks();
  return 0;
}
