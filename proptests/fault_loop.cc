// An injected failure at every driver call of random Programs, one at a time (see
// src/testing/fault_loop.h).
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "jobs.h"
#include "testing/command_line.h"
#include "testing/fault_loop.h"
#include "testing/op_run.h"
#include "testing/printer.h"
#include "testing/shrink.h"

namespace {

using cairn::testing::count_calls;
using cairn::testing::Fault;
using cairn::testing::FaultLoop;
using cairn::testing::faults_of;
using cairn::testing::JobState;
using cairn::testing::OpRun;
using cairn::testing::play;
using cairn::testing::print_program;
using cairn::testing::Program;
using cairn::testing::run_jobs;
using cairn::testing::run_seed;
using cairn::testing::shrink;
using cairn::testing::StepResult;
using cairn::testing::with_fault;

struct Wanted {
  std::uint64_t programs = 20;
  std::uint64_t seed = 1;
  std::uint64_t operations = 300;
  FaultLoop loop{1, 10};
  int jobs = 1;
};

using Number = unsigned long long;

// False where something is found, which is told.
bool survives(const Program& program, const Fault& fault) {
  const Program faulty = with_fault(program, fault);
  if (play(faulty).result.kind != StepResult::Kind::finding) return true;
  const Program shortest = shrink(faulty);
  const StepResult result = play(shortest).result;
  std::fprintf(stderr, "expected: %s\nfound: %s\n%s", result.expected.c_str(), result.found.c_str(),
               print_program(shortest).c_str());
  return false;
}

// The programs of the first seeds that do not end early, devices being lost.
std::map<std::uint64_t, Program> long_programs(const Wanted& wanted) {
  std::map<std::uint64_t, Program> programs;
  for (std::uint64_t seed = wanted.seed; programs.size() < wanted.programs; ++seed) {
    OpRun run = run_seed(seed, wanted.operations);
    if (run.histogram.total() == wanted.operations) programs.emplace(seed, std::move(run.program));
  }
  return programs;
}

bool survives_all(std::uint64_t seed, const Program& program, const Wanted& wanted,
                  JobState& state) {
  state.working_on = seed;
  const auto calls = count_calls(program);
  const std::vector<Fault> faults = faults_of(calls, wanted.loop);
  for (const Fault& fault : faults) {
    if (!survives(program, fault)) return false;
    ++state.done;
  }
  std::string counts;
  for (const auto& [call, count] : calls)
    counts += " " + std::string(cairn::to_string(call)) + " " + std::to_string(count);
  std::fprintf(stderr, "program of seed %llu: %zu faults; calls:%s\n", static_cast<Number>(seed),
               faults.size(), counts.c_str());
  return true;
}

int run_share(int job, JobState& state, const Wanted& wanted) {
  int turn = 0;
  for (const auto& [seed, program] : long_programs(wanted)) {
    if (turn++ % wanted.jobs != job || survives_all(seed, program, wanted, state)) continue;
    std::fprintf(stderr, "in the program of seed %llu\n", static_cast<Number>(seed));
    return 1;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  CLI::App app{"Makes each driver call of random Programs fail, one at a time."};
  app.add_option("--programs", wanted.programs, "how many")->capture_default_str();
  app.add_option("--seed", wanted.seed, "of the first one")->capture_default_str();
  app.add_option("--operations", wanted.operations, "of each")->capture_default_str();
  app.add_option("--stride", wanted.loop.stride, "of the calls of a kind only every N-th fails")
      ->check(CLI::Range(std::uint64_t{1}, ~std::uint64_t{0}))
      ->capture_default_str();
  app.add_option("--lasting", wanted.loop.stride_of_lasting,
                 "from every N-th call of a kind on, all fail; 0: never")
      ->capture_default_str();
  app.add_option("--jobs", wanted.jobs, "processes at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.footer("Exit codes: 0 nothing found; 1 found something; 2 wrong usage.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  std::uint64_t done = 0;
  const int code = run_jobs(
      wanted.jobs, [&wanted](int job, JobState& state) { return run_share(job, state, wanted); },
      done);
  std::printf("%llu faults injected, %s\n", static_cast<Number>(done),
              code == 0 ? "nothing found" : "something found");
  return code;
}
