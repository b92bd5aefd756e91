#include "tool/cli.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <iostream>
#include <new>

#include "cairn/version.h"
#include "testing/command_line.h"
#include "tool/commands.h"

namespace cairn::tool {
namespace {

constexpr const char* version = "cairn " CAIRN_VERSION;

constexpr const char* examples = R"(Examples:
  cairn run bug.program                     does all of it hold? (0 yes, 1 no, 2 bad input,
                                            3 something that is not supported yet)
  cairn import snapshot.pickle -o s.program a PyTorch memory snapshot as a program
  cairn import rmm_log.csv | cairn run -    a log of RMM's logging adaptor, made and run
  cairn replay --repeat 10 s.program        time, peaks and fragmentation at full speed
  cairn replay --html run.html s.program    the same, and a page that shows the run
  cairn run train.events.csv.gz             a table of events, with the maps that stand beside it

A FILE may be gzipped; - is the standard input.)";

constexpr const char* replayed =
    R"(The allocator runs alone, without the reference model and the judge of `cairn run`: exit 0
("verdict":"replayed") says that nothing failed but what had to, and that addresses were those
expected.

fragmentation: at peak, the part of the reserved bytes that nobody had allocated (1 - peak allocated
/ peak reserved); at the end, the part of the free bytes outside the largest free block.)";

// Options that several commands have.
struct Shared {
  LoadOptions load;
  std::string format = "auto";
  std::uint64_t limit = testing::default_content_limit.count;
  bool json = false;
  bool progress = false;

  LoadOptions load_options() const {
    LoadOptions options = load;
    options.format = format_from(format);
    options.limit = Bytes{limit};
    return options;
  }
};

void add_shared(CLI::App& command, Shared& shared) {
  command.add_flag("--json", shared.json, "Print one JSON object a line for each file");
  command.add_flag("--progress", shared.progress,
                   "Say on stderr how far long work is, even if that is no terminal");
  command.add_option("--limit", shared.limit, "Most bytes that one file may hold, unpacked")
      ->transform(CLI::AsSizeValue(false))
      ->default_str("1GiB");
  command
      .add_option("--best-fit-tie", shared.load.best_fit_tie,
                  "Which of equal free blocks the recorded PyTorch took")
      ->check(CLI::IsMember({"address", "segment"}))
      ->capture_default_str();
  command.add_flag("--skip-unknown-frees", shared.load.skip_unknown_frees,
                   "Leave out frees of what an RMM log never allocated");
}

void add_run(CLI::App& app, RunCommand& run, Shared& shared) {
  CLI::App* const command = app.add_subcommand(
      "run", "Run programs in lockstep with the reference model, every invariant checked");
  command->add_option("FILE", run.files, "Programs, or recordings to be imported")->required();
  command->add_flag("--calls", run.with_calls,
                    "Print the allocator's driver calls too, a line each with that of the program");
  add_shared(*command, shared);
}

void add_import(CLI::App& app, ImportCommand& import, Shared& shared) {
  CLI::App* const command = app.add_subcommand("import", "Make a program of a recording");
  command->add_option("FILE", import.file, "The recording")->required();
  command->add_option("-o,--output", import.output, "Write the program there; .gz compresses");
  command->add_option("--format", shared.format, "What the file is")
      ->check(CLI::IsMember({"auto", "snapshot", "events", "two-thread", "rmm", "map"}))
      ->capture_default_str();
  command->add_option("--initial", shared.load.initial,
                      "Map at the start of a table of events (default: NAME.initial.json beside "
                      "NAME.events.csv)");
  command->add_option("--final", shared.load.final, "Map at its end (default: NAME.segments.json)");
  add_shared(*command, shared);
}

void add_replay(CLI::App& app, ReplayCommand& replay, Shared& shared) {
  CLI::App* const command =
      app.add_subcommand("replay", "Run programs at full speed and report time and memory");
  command->add_option("FILE", replay.files, "Programs, or recordings to be imported")->required();
  command->add_option("--repeat", replay.repetitions, "How often")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command->add_option("--html", replay.html,
                      "Write one page there that shows the run of FILE: memory over time, the map "
                      "of segments and blocks at any moment, driver calls. It needs no network");
  command->footer(replayed);
  add_shared(*command, shared);
}

}  // namespace

int run_cli(int argc, const char* const* argv, std::ostream& out, std::ostream& err) {
  CLI::App app("Cairn: programs of a caching memory allocator, run, made and measured.", "cairn");
  app.set_version_flag("--version", version);
  app.footer(examples);
  app.require_subcommand(1);
  Shared shared;
  RunCommand run;
  ImportCommand import;
  ReplayCommand replay;
  add_run(app, run, shared);
  add_import(app, import, shared);
  add_replay(app, replay, shared);
  if (const auto code = testing::exit_code_of(app, argc, argv, {out, err})) return *code;
  const bool on_terminal = &err == &std::cerr && isatty(STDERR_FILENO) == 1;
  const Console console{out, err, shared.json, shared.progress || on_terminal};
  run.load = import.load = replay.load = shared.load_options();
  ExitCode code = ExitCode::good;
  try {
    if (app.got_subcommand("run")) code = run(console);
    if (app.got_subcommand("import")) code = import(console);
    if (app.got_subcommand("replay")) code = replay(console);
  } catch (const std::bad_alloc&) {
    err << "out of memory on the host; --limit bounds what a file may hold\n";
    code = ExitCode::bad_input;
  }
  if (!out.flush()) {
    err << "the output cannot be written\n";
    code = ExitCode::bad_input;
  }
  return static_cast<int>(code);
}

}  // namespace cairn::tool
