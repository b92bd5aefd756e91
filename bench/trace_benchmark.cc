// Recorded traces, replayed from an empty allocator: the time of a step, beside
// cub::CachingDeviceAllocator and beside a call of the driver for each request.
//
// Exits with 2 where a FILE could not be used; all the others are measured all the same.
#include <memory>
#include <string>
#include <utility>

#include "bench/contenders.h"
#include "bench/replay_cases.h"
#include "bench/run_benchmarks.h"
#include "bench/trace_sequences.h"

int main(int argc, char** argv) {
  using namespace cairn::bench;
  const CommandLine line =
      read_command_line(argc, argv, "usage: trace_benchmark FILE... [FLAG...]", Others::some);
  if (!line.is_good) return 2;
  auto sequences = read_sequences("trace_benchmark", line.others);
  const bool is_whole = sequences.size() == line.others.size();
  for (Sequence& read : sequences) {
    const auto sequence = std::make_shared<const Sequence>(std::move(read));
    for_each_contender([&]<class Contender> { register_replay<Contender>("trace", sequence); });
  }
  if (!sequences.empty()) run_benchmarks();
  return is_whole ? 0 : 2;
}
