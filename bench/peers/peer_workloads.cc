// Writes the workloads of the peers, for their programs to read. One that cannot be used is left
// out; all the others are written all the same.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/peers/drawn_workloads.h"
#include "bench/trace_sequences.h"
#include "testing/command_line.h"

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
  CLI::App app("Writes the workloads of the peers into files, and prints the name of each.");
  std::string folder;
  std::vector<std::string> names;
  app.add_option("FOLDER", folder, "Where the files go")->required();
  app.add_option("WORKLOAD", names, "Traces, and workloads that are drawn (drawn_workloads.h)")
      ->required();
  app.footer("Exits with 2 where a WORKLOAD cannot be used; all others are written all the same.");
  if (const auto code = cairn::testing::exit_code_of(app, argc, argv)) return *code;
  int status = 0;
  for (const std::string& name : names) {
    if (!cairn::bench::peers::write(folder, name)) status = 2;
  }
  return status;
}
