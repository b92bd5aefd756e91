// Recorded traces, replayed from an empty allocator: the time of a step, beside
// cub::CachingDeviceAllocator and beside a call of the driver for each request.
//
//     trace_benchmark FILE... [flags of Google Benchmark]
//
// Exits with 2 where a FILE could not be used; all the others are measured all the same.
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <utility>

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
  auto sequences = read_sequences("trace_benchmark", line.others);
  const bool is_whole = sequences.size() == line.others.size();
  for (Sequence& read : sequences) {
    const auto sequence = std::make_shared<const Sequence>(std::move(read));
    for_each_contender([&]<class Contender> { register_replay<Contender>("trace", sequence); });
  }
  if (!sequences.empty()) run_benchmarks();
  return is_whole ? 0 : 2;
}
