// Writes the workloads of the peers, for their programs to read.
//
//     peer_workloads FOLDER WORKLOAD...
//
// WORKLOAD is a trace (trace_sequences.h) or a name that drawn_workloads.h has. Prints the file of
// each. Exits with 2 where one could not be used; all the others are written all the same.
#include <cstdio>
#include <string>
#include <string_view>

#include "bench/peers/drawn_workloads.h"
#include "bench/trace_sequences.h"

namespace cairn::bench::peers {
namespace {

Result<Workload, std::string> workload_of(const std::string& name) {
  auto drawn = drawn_workload(name);
  if (drawn) {
    drawn->sequence.name = name;
    complete(*drawn);
    return std::move(*drawn);
  }
  auto sequence = read_sequence(name);
  if (!sequence) return Failure{name + ": " + sequence.error()};
  Workload workload;
  workload.sequence = std::move(*sequence);
  complete(workload);
  return workload;
}

bool write(const std::string& folder, const std::string& name) {
  const auto workload = workload_of(name);
  if (!workload) {
    std::fprintf(stderr, "peer_workloads: left out: %s\n", workload.error().c_str());
    return false;
  }
  const std::string path = folder + "/" + workload->sequence.name + ".workload";
  if (write_workload(*workload, path)) {
    std::printf("%s\n", path.c_str());
    return true;
  }
  std::fprintf(stderr, "peer_workloads: cannot write %s\n", path.c_str());
  return false;
}

}  // namespace
}  // namespace cairn::bench::peers

int main(int argc, char** argv) {
  if (argc < 3 || argv[1][0] == '-') {
    const bool is_asked = argc == 2 && std::string_view(argv[1]) == "--help";
    std::fputs("usage: peer_workloads FOLDER WORKLOAD...\n", is_asked ? stdout : stderr);
    return is_asked ? 0 : 2;
  }
  int status = 0;
  for (int i = 2; i < argc; ++i) {
    if (!cairn::bench::peers::write(argv[1], argv[i])) status = 2;
  }
  return status;
}
