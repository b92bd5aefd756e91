// Explores the schedules of public operations that run at the same time.
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "explore.h"
#include "operations.h"
#include "testing/command_line.h"
#include "testing/parser.h"
#include "testing/printer.h"

namespace {

using namespace cairn::testing;
using Number = unsigned long long;

struct Wanted {
  std::vector<std::string> sets;  // Such as hit+free.
  std::vector<std::string> states;
  std::uint64_t random = 0;
  std::uint64_t seed = 1;
  int preemptions = 2;
  int share = 0;
  int shares = 1;
  bool is_short = false;
  bool triples = false;
  std::string json;
  std::string program;
};

// Operations that run at the same time from one state.
struct Task {
  StartState state;
  std::vector<NamedOperation> operations;
  std::string name() const {
    std::string name;
    for (const NamedOperation& each : operations) name += (name.empty() ? "" : "+") + each.name;
    return name;
  }
};

struct Row {
  std::string operations;
  std::string state;
  std::uint64_t schedules = 0;
  std::uint64_t most_points = 0;
  int preemptions = 0;
  double seconds = 0;
  bool found = false;
};

// What a process tells the one that began it.
struct Shared {
  Trail trail;
  std::uint64_t schedules = 0;
  std::uint64_t most_points = 0;
  double seconds = 0;
  bool found = false;
};

const NamedOperation* find_operation(const std::string& name) {
  for (const NamedOperation& each : named_operations())
    if (each.name == name) return &each;
  return nullptr;
}

std::vector<NamedOperation> operations_of(const std::string& set) {
  std::vector<NamedOperation> operations;
  for (std::size_t begin = 0; begin <= set.size();) {
    const std::size_t end = std::min(set.find('+', begin), set.size());
    const std::string name = set.substr(begin, end - begin);
    const NamedOperation* found = find_operation(name);
    if (found == nullptr) {
      std::fprintf(stderr, "schedules: no such operation: '%s'; there are", name.c_str());
      for (const NamedOperation& each : named_operations())
        std::fprintf(stderr, " %s", each.name.c_str());
      std::fprintf(stderr, "\n");
      return {};
    }
    operations.push_back(*found);
    begin = end + 1;
  }
  return operations;
}

std::vector<std::vector<NamedOperation>> all_sets(const Wanted& wanted) {
  std::vector<std::vector<NamedOperation>> sets;
  const auto& all = named_operations();
  if (wanted.triples) {
    for (const std::string& set : chosen_triples()) sets.push_back(operations_of(set));
    return sets;
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i; j < all.size(); ++j) sets.push_back({all[i], all[j]});
  return sets;
}

Row explore_task(const Task& task, const Wanted& wanted, Trail* trail) {
  WorldOptions options;
  options.has_callbacks = task.state.has_callbacks;
  const Program program = program_of(task.state, task.operations);
  const auto begin = std::chrono::steady_clock::now();
  const Explored explored =
      wanted.random != 0 ? explore_at_random(program, options, wanted.random, wanted.seed, trail)
                         : explore(program, options, {wanted.preemptions, 1'000'000, trail});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (explored.found) {
    const Found shortest = shorten(*explored.found, options);
    std::fprintf(stderr,
                 "# %s from %s: schedule of %zu steps, %d preemptions\n# expected: %s\n"
                 "# found: %s\n%s",
                 task.name().c_str(), task.state.name.c_str(), steps_of_schedule(shortest.program),
                 shortest.preemptions, shortest.result.expected.c_str(),
                 shortest.result.found.c_str(), print_program(shortest.program).c_str());
  }
  return {task.name(),        task.state.name, explored.schedules,        explored.most_points,
          wanted.preemptions, seconds.count(), explored.found.has_value()};
}

nlohmann::json as_json(const Row& row) {
  return {{"operations", row.operations},
          {"state", row.state},
          {"schedules", row.schedules},
          {"most_points", row.most_points},
          {"preemptions", row.preemptions},
          {"seconds", row.seconds},
          {"found", row.found}};
}

// What crashed or ran for ever: the Program, with the schedule as far as it came.
Row tell_of_crash(const Task& task, const Wanted& wanted, const Trail& trail, int status) {
  Program program = program_of(task.state, task.operations);
  Statement schedule;
  schedule.operation = Schedule{{trail.threads, trail.threads + trail.length}};
  if (trail.length != 0) program.statements.insert(program.statements.end() - 1, schedule);
  std::fprintf(stderr, "# %s from %s: %s\n%s", task.name().c_str(), task.state.name.c_str(),
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "the process ended",
               print_program(program).c_str());
  return {task.name(), task.state.name, 0, 0, wanted.preemptions, 0, true};
}

// In a process of its own, which a fault may crash, or keep busy for ever.
Row run(const Task& task, const Wanted& wanted) {
  void* shared =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return explore_task(task, wanted, nullptr);
  auto* both = new (shared) Shared;
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t most = 120 + wanted.random / 100;
    const rlimit limit{most, most};  // Of its time on a processor, in seconds.
    setrlimit(RLIMIT_CPU, &limit);
    const Row row = explore_task(task, wanted, &both->trail);
    both->schedules = row.schedules;
    both->most_points = row.most_points;
    both->seconds = row.seconds;
    both->found = row.found;
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 1;
  while (child > 0 && waitpid(child, &status, 0) < 0) {
  }
  Row row{task.name(),        task.state.name, both->schedules, both->most_points,
          wanted.preemptions, both->seconds,   both->found};
  if (child < 0) {
    row = explore_task(task, wanted, nullptr);
  } else if (status != 0) {
    row = tell_of_crash(task, wanted, both->trail, status);
  }
  munmap(shared, sizeof(Shared));
  return row;
}

int run_program(const std::string& name) {
  std::ifstream file(name);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) {
    std::fprintf(stderr, "schedules: cannot read %s\n", name.c_str());
    return 2;
  }
  const auto program = parse_program(text);
  if (!program) {
    std::fprintf(stderr, "%s:%d:%d: %s\n", name.c_str(), program.error().line,
                 program.error().column, program.error().message.c_str());
    return 2;
  }
  const RunReport report = cairn::testing::run(*program);
  if (report.verdict == Verdict::holds) {
    std::printf("%s: holds\n", name.c_str());
  } else {
    std::printf("%s:%d: %s\n  expected: %s\n  found: %s\n  %s\n", name.c_str(), report.line,
                report.statement.c_str(), report.expected.c_str(), report.found.c_str(),
                report.why.c_str());
  }
  return static_cast<int>(report.verdict);
}

std::vector<Task> tasks_of(const Wanted& wanted) {
  std::vector<std::vector<NamedOperation>> sets;
  for (const std::string& set : wanted.sets) sets.push_back(operations_of(set));
  if (sets.empty()) sets = all_sets(wanted);
  std::vector<Task> tasks;
  for (const StartState& state : start_states()) {
    const bool is_wanted = wanted.states.empty() ||
                           std::ranges::find(wanted.states, state.name) != wanted.states.end();
    if (!is_wanted) continue;
    for (const auto& operations : sets) tasks.push_back({state, operations});
  }
  return tasks;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  CLI::App app{"Explores the schedules of public operations that run at the same time."};
  app.add_option("operations", wanted.sets,
                 "which, such as hit+free; default: every pair of those there are");
  app.add_option("--state", wanted.states,
                 "from which state: roomy, tight, waiting, unlocked, "
                 "callbacks; default: each")
      ->expected(1);
  app.add_flag("--triples", wanted.triples, "chosen triples in place of pairs");
  app.add_option("--preemptions", wanted.preemptions, "at most")->capture_default_str();
  app.add_option("--random", wanted.random, "so many random schedules of each instead (PCT)");
  app.add_option("--seed", wanted.seed, "of the first random one")->capture_default_str();
  app.add_option("--share", wanted.share, "of the work, from 0");
  app.add_option("--shares", wanted.shares, "into which the work is divided")
      ->check(CLI::Range(1, 256));
  app.add_flag("--short", wanted.is_short, "from one state, one preemption: for the gate");
  app.add_option("--json", wanted.json, "file for the figures");
  app.add_option("--run", wanted.program, "runs this Program, with `parallel`, and nothing else");
  app.footer("Exit codes: 0 nothing found; 1 found something; 2 wrong usage.");
  if (const auto code = exit_code_of(app, count, arguments)) return *code;
  if (!wanted.program.empty()) return run_program(wanted.program);
  for (const std::string& set : wanted.sets)
    if (operations_of(set).empty()) return 2;
  if (wanted.is_short) {
    wanted.states = {"unlocked"};
    wanted.preemptions = 1;
  }

  if (wanted.share < 0 || wanted.share >= wanted.shares) {
    std::fprintf(stderr, "schedules: --share is below --shares\n");
    return 2;
  }
  std::vector<Row> rows;
  const std::vector<Task> tasks = tasks_of(wanted);
  if (tasks.empty()) {
    std::fprintf(stderr, "schedules: no such state\n");
    return 2;
  }
  bool found = false;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (static_cast<int>(i) % wanted.shares != wanted.share) continue;
    rows.push_back(run(tasks[i], wanted));
    found = found || rows.back().found;
    std::printf("%-40s %-10s %8llu schedules %6.2f s%s\n", rows.back().operations.c_str(),
                rows.back().state.c_str(), static_cast<Number>(rows.back().schedules),
                rows.back().seconds, rows.back().found ? "  FOUND" : "");
    std::fflush(stdout);
  }
  if (!wanted.json.empty()) {
    nlohmann::json json = nlohmann::json::array();
    for (const Row& row : rows) json.push_back(as_json(row));
    std::ofstream(wanted.json) << json.dump(1) << "\n";
  }
  return found ? 1 : 0;
}
