// How much memory is held of a device, and how often its driver is called, for sequences of
// requests from an empty allocator: by Cairn, by cub::CachingDeviceAllocator, and where each
// request is a call of the driver. Nothing is timed; the same numbers come each time. Memory never
// runs out, so nothing cached has to go back. After the sequences that are named come RMM's random
// allocations.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/held_memory.h"
#include "bench/random_allocations.h"
#include "bench/trace_sequences.h"
#include "testing/command_line.h"

namespace cairn::bench {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const HeldMemory& held, std::uint64_t peak_live) {
  return {{"peak_reserved_bytes", held.peak_reserved_bytes},
          {"reserved_over_live",
           static_cast<double>(held.peak_reserved_bytes) / static_cast<double>(peak_live)},
          {"malloc_calls", held.malloc_calls},
          {"free_calls", held.free_calls},
          {"event_calls", held.event_calls}};
}

Json measure(const Sequence& sequence) {
  const std::uint64_t peak_live = peak_of_live(sequence);
  Json row{{"sequence", sequence.name},
           {"steps", sequence.steps.size()},
           {"peak_live_bytes", peak_live},
           {"cairn", as_json(held_by_cairn(sequence), peak_live)}};
  if (const auto held = held_by_cub(sequence)) row["cub"] = as_json(*held, peak_live);
  row["direct"] = as_json(held_directly(sequence), peak_live);
  return row;
}

void print_heading() {
  std::printf("%-30s %9s %12s  %-23s  %-23s  %-23s\n", "", "", "peak live", "peak reserved / live",
              "cudaMalloc + cudaFree", "event calls");
  std::printf("%-30s %9s %12s  %7s %7s %7s  %7s %7s %7s  %11s %11s\n", "sequence", "steps", "MiB",
              "cairn", "cub", "direct", "cairn", "cub", "direct", "cairn", "cub");
}

std::string ratio_of(const Json& row, const char* who) {
  if (!row.contains(who)) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", row[who]["reserved_over_live"].get<double>());
  return text;
}
std::string memory_calls_of(const Json& row, const char* who) {
  if (!row.contains(who)) return "-";
  return std::to_string(row[who]["malloc_calls"].get<std::uint64_t>() +
                        row[who]["free_calls"].get<std::uint64_t>());
}
std::string event_calls_of(const Json& row, const char* who) {
  if (!row.contains(who)) return "-";
  return std::to_string(row[who]["event_calls"].get<std::uint64_t>());
}

void print_row(const Json& row) {
  std::printf("%-30s %9zu %12.1f  %7s %7s %7s  %7s %7s %7s  %11s %11s\n",
              row["sequence"].get<std::string>().c_str(), row["steps"].get<std::size_t>(),
              row["peak_live_bytes"].get<double>() / (1 << 20), ratio_of(row, "cairn").c_str(),
              ratio_of(row, "cub").c_str(), ratio_of(row, "direct").c_str(),
              memory_calls_of(row, "cairn").c_str(), memory_calls_of(row, "cub").c_str(),
              memory_calls_of(row, "direct").c_str(), event_calls_of(row, "cairn").c_str(),
              event_calls_of(row, "cub").c_str());
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using namespace cairn::bench;
  CLI::App app("The memory that sequences of requests make allocators hold, and driver calls.");
  std::string json;  // Empty: none is written.
  std::vector<std::string> files;
  app.add_option("SEQUENCE", files, "Programs, tables of events or of lifetimes, gzipped or not");
  app.add_option("--json", json, "Write the numbers to that file too");
  app.footer("Exits with 2 where a SEQUENCE cannot be used; all others are measured all the same.");
  if (const auto code = cairn::testing::exit_code_of(app, argc, argv)) return *code;
  auto sequences = read_sequences("fragmentation", files);
  const int status = sequences.size() == files.size() ? 0 : 2;
  for (const std::uint64_t largest_mib : {1u, 4u, 64u, 256u, 1024u, 4096u}) {
    sequences.push_back(random_allocations({10'000, largest_mib}));
  }
  Json rows = Json::array();
  print_heading();
  for (const Sequence& sequence : sequences) {
    rows.push_back(measure(sequence));
    print_row(rows.back());
  }
  if (json.empty()) return status;
  std::ofstream file(json);
  file << rows.dump(1) << '\n';
  if (file.flush()) return status;
  std::fprintf(stderr, "fragmentation: cannot write %s\n", json.c_str());
  return 2;
}
