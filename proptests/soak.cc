// Random Programs, one after another, for as many operations as wanted: the allocator on the
// simulated GPU, the reference model in lockstep, checkers and judge on. Each Program has a seed of
// its own, so what is found can be had again by that seed alone.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

#include "invariants/catalogue/evaluations.h"
#include "jobs.h"
#include "testing/command_line.h"
#include "testing/op_run.h"
#include "testing/play.h"
#include "testing/printer.h"
#include "testing/shrink.h"

namespace {

using cairn::testing::JobState;
using cairn::testing::OpRun;

struct Wanted {
  std::uint64_t operations = 1000000;
  std::uint64_t seed = 1;
  std::uint64_t length = 1000;
  int jobs = 1;
  std::string folder = ".";
  bool shrinks = true;
  bool counts = false;
  cairn::testing::WorldOptions world;
};

using Number = unsigned long long;

void report(const OpRun& run, std::uint64_t seed, const Wanted& wanted) {
  std::fprintf(stderr, "seed %llu: found something\n", static_cast<Number>(seed));
  OpRun shortest = run;
  if (wanted.shrinks && !run.mistake) {
    shortest.program = cairn::testing::shrink(run.program, wanted.world);
    shortest.result = cairn::testing::play(shortest.program, wanted.world).result;
  }
  std::fprintf(stderr, "%s", cairn::testing::in_words(shortest).c_str());
  const std::string path = wanted.folder + "/soak-" + std::to_string(seed) + ".program";
  std::ofstream(path) << cairn::testing::print_program(shortest.program);
  std::fprintf(stderr, "written to %s\n", path.c_str());
}

void say_progress(std::uint64_t before, std::uint64_t done, std::uint64_t share) {
  const std::uint64_t step = share / 20 + 1;
  if (before / step == done / step) return;
  std::fprintf(stderr, "%3llu %%\n", static_cast<Number>(100 * done / share));
}

// The job's part of the Programs: those whose number leaves its own as the remainder.
int run_share(int job, JobState& state, const Wanted& wanted) {
  const auto jobs = static_cast<std::uint64_t>(wanted.jobs);
  const std::uint64_t share = (wanted.operations + jobs - 1) / jobs;
  std::uint64_t seed = wanted.seed + static_cast<std::uint64_t>(job);
  for (std::uint64_t done = 0; done < share; seed += jobs) {
    state.working_on = seed;
    const std::uint64_t length = wanted.length / 4 + seed % 7 * wanted.length / 4;
    const OpRun run = cairn::testing::run_seed(seed, length, wanted.world);
    if (!run.holds()) {
      report(run, seed, wanted);
      return 1;
    }
    if (job == 0) say_progress(done, done + run.statements, share);
    done += run.statements;
    state.done = done;
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  wanted.world.lets_others_in = true;
  CLI::App app{"Runs random Programs, until something is found or enough operations were done."};
  app.add_option("--operations", wanted.operations, "how many operations in all")
      ->capture_default_str();
  app.add_option("--seed", wanted.seed, "of the first Program; the others have those after it")
      ->capture_default_str();
  app.add_option("--length", wanted.length, "operations of a Program, about")
      ->check(CLI::Range(4, 1000000))
      ->capture_default_str();
  app.add_option("--jobs", wanted.jobs, "processes at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--folder", wanted.folder, "where a Program that found something is written")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  app.add_flag("--shrink,!--no-shrink", wanted.shrinks, "make it short first");
  app.add_flag("--lockstep,!--no-lockstep", wanted.world.lockstep, "the model foretells each step");
  app.add_flag("--checkers,!--no-checkers", wanted.world.checkers, "invariants after each step");
  app.add_flag("--counts", wanted.counts, "say how often each invariant was evaluated");
  app.footer("Exit codes: 0 nothing found; 1 found something; 2 wrong usage.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  std::fprintf(stderr, "first seed %llu\n", static_cast<Number>(wanted.seed));
  std::uint64_t done = 0;
  const int code = cairn::testing::run_jobs(
      wanted.jobs, [&wanted](int job, JobState& state) { return run_share(job, state, wanted); },
      done);
  std::printf("%llu operations, %s\n", static_cast<Number>(done),
              code == 0 ? "nothing found" : "something found");
  std::printf("%s", wanted.counts ? cairn::invariants::evaluations_in_words().c_str()
                                  : cairn::invariants::never_evaluated_in_words().c_str());
  return code;
}
