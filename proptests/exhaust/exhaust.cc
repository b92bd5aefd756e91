// Explores small scopes to their end: see explore.h, and README.md for what was seen.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "explore.h"
#include "invariants/catalogue/evaluations.h"
#include "scopes.h"
#include "testing/command_line.h"
#include "testing/printer.h"

namespace {

using cairn::exhaust::Exploration;
using cairn::exhaust::ExploreOptions;
using cairn::exhaust::Scope;
using cairn::protocol::Transition;
using Json = nlohmann::ordered_json;
using Seconds = std::chrono::duration<double>;
using Number = unsigned long long;

struct Wanted {
  std::vector<std::string> names;
  ExploreOptions options;
  std::string json;
  std::string transitions;  // A folder.
  double progress = 10;
  bool lists = false;
};

double since(std::chrono::steady_clock::time_point start) {
  return Seconds(std::chrono::steady_clock::now() - start).count();
}

// A line on stderr every so many seconds.
class Teller {
 public:
  Teller(std::string_view scope, double every) : scope_(scope), every_(every) {}
  void operator()(const cairn::exhaust::Progress& progress) {
    if (every_ <= 0 || progress.states % 64 != 0 || since(last_) < every_) return;
    last_ = std::chrono::steady_clock::now();
    std::fprintf(stderr,
                 "%s: %llu states, %llu to go on from, depth %d, %llu transitions, "
                 "%.0f states/s, %llu MiB\n",
                 scope_.c_str(), static_cast<Number>(progress.states),
                 static_cast<Number>(progress.to_go), progress.depth,
                 static_cast<Number>(progress.transitions),
                 static_cast<double>(progress.states) / since(start_),
                 static_cast<Number>(progress.bytes >> 20));
  }

 private:
  std::string scope_;
  double every_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point last_ = start_;
};

std::string operations_of(const Scope& scope) {
  std::string text = std::to_string(scope.sizes.size()) + " sizes";
  const std::vector<std::pair<bool, const char*>> words = {
      {scope.uses, "use"},
      {scope.works, "work"},
      {scope.frees_on, "free_on"},
      {scope.polls, "poll"},
      {scope.empties, "empty_cache"},
      {!scope.faults.empty(), "failing calls"}};
  for (const auto& [has, word] : words)
    if (has) text += std::string(", ") + word;
  for (const std::string_view change : scope.changes) text += ", " + std::string(change);
  return text;
}

Json as_json(const Scope& scope, const Exploration& seen, double seconds) {
  Json json = {{"scope", scope.name},
               {"about", scope.about},
               {"blocks", scope.most_blocks},
               {"streams", scope.streams},
               {"operations", operations_of(scope)},
               {"failing_call_choices", scope.faults.size()},
               {"streams_renamed", scope.renames_streams},
               {"depth", seen.depth},
               {"states", seen.states},
               {"states_by_depth", seen.states_by_depth},
               {"transitions", seen.transitions},
               {"transitions_with_failing_call", seen.failing_calls},
               {"closed", seen.is_closed},
               {"seconds", seconds},
               {"ends_checked", seen.ends_checked},
               {"replays_checked", seen.replays_checked},
               {"merges_checked", seen.merges_checked},
               {"found", seen.finding.has_value()}};
  if (scope.modelled) {
    const cairn::Bytes largest = *std::ranges::max_element(scope.sizes);
    json["model"] = {{"segments", scope.modelled->segments},
                     {"granules", scope.modelled->granules},
                     {"largest", largest.count / scope.modelled->granule.count},
                     {"streams", cairn::protocol::stream_count}};
  }
  if (seen.finding) {
    json["expected"] = seen.finding->expected;
    json["instead"] = seen.finding->found;
    json["program"] = cairn::testing::print_program(seen.finding->program);
  }
  return json;
}

void tell(const Scope& scope, const Exploration& seen, double seconds) {
  std::printf("%-16s %6d %7d %5d %10llu %11llu %-6s %8.1f\n", std::string(scope.name).c_str(),
              scope.most_blocks, scope.streams, seen.depth, static_cast<Number>(seen.states),
              static_cast<Number>(seen.transitions), seen.is_closed ? "yes" : "no", seconds);
  if (seen.finding) {
    std::printf("\n# expected: %s\n# found: %s\n%s\n", seen.finding->expected.c_str(),
                seen.finding->found.c_str(),
                cairn::testing::print_program(seen.finding->program).c_str());
  }
  std::fflush(stdout);
}

void tell_of_crash(const cairn::testing::Program& program) {
  std::printf("\n# crashes at the last operation, or when all is given back after it\n%s\n",
              cairn::testing::print_program(program).c_str());
  std::fflush(stdout);
}

Json evaluations() {
  Json json;
  for (const cairn::invariants::Invariant& each : cairn::invariants::all)
    json[each.id] = cairn::invariants::evaluations(each);
  return json;
}

void list() {
  for (const Scope& scope : cairn::exhaust::all_scopes())
    std::printf("%-16s %s\n", std::string(scope.name).c_str(), std::string(scope.about).c_str());
}

void write(const std::set<Transition>& transitions, const std::string& path) {
  std::ofstream file(path);
  for (const Transition& transition : transitions) file << line_of(transition) << '\n';
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// The exit code.
int explore_all(const Wanted& wanted, const std::vector<const Scope*>& scopes) {
  std::printf("%-16s %6s %7s %5s %10s %11s %-6s %8s\n", "scope", "blocks", "streams", "depth",
              "states", "transitions", "closed", "seconds");
  Json json = {{"scopes", Json::array()}};
  int code = 0;
  for (const Scope* scope : scopes) {
    ExploreOptions options = wanted.options;
    options.progress = Teller(scope->name, wanted.progress);
    options.crashed = tell_of_crash;
    std::set<Transition> transitions;
    const bool listens = !wanted.transitions.empty();
    if (listens) options.step = [&](const Transition& step) { transitions.insert(step); };
    const auto start = std::chrono::steady_clock::now();
    const Exploration seen = cairn::exhaust::explore(*scope, options);
    const double seconds = since(start);
    tell(*scope, seen, seconds);
    if (listens)
      write(transitions, wanted.transitions + "/" + std::string(scope->name) + ".transitions");
    json["scopes"].push_back(as_json(*scope, seen, seconds));
    if (seen.finding) code = 1;
  }
  json["evaluations"] = evaluations();
  if (!wanted.json.empty()) std::ofstream(wanted.json) << json.dump(1) << '\n';
  return code;
}

int run(const Wanted& wanted) {
  if (wanted.lists) {
    list();
    return 0;
  }
  std::vector<const Scope*> scopes;
  for (const std::string& name : wanted.names) {
    const Scope* scope = cairn::exhaust::find_scope(name);
    if (scope == nullptr) {
      std::fprintf(stderr, "exhaust: there is no scope '%s'; --list says which there are\n",
                   name.c_str());
      return 2;
    }
    scopes.push_back(scope);
  }
  if (scopes.empty()) {
    for (const Scope& scope : cairn::exhaust::all_scopes()) scopes.push_back(&scope);
  }
  for (const Scope* scope : scopes) {
    if (wanted.transitions.empty() || scope->modelled) continue;
    std::fprintf(stderr, "exhaust: the model has no scope '%s', so there are no --transitions\n",
                 std::string(scope->name).c_str());
    return 2;
  }
  return explore_all(wanted, scopes);
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  ExploreOptions& options = wanted.options;
  CLI::App app{"Explores all that can happen in small scopes, on the real code, breadth first."};
  app.add_option("SCOPE", wanted.names, "which; all, if none is named");
  app.add_flag("--list", wanted.lists, "say which there are");
  app.add_option("--depth", options.depth,
                 "so many operations at most; 0: until nothing new comes");
  app.add_option("--states", options.states, "end after so many states; 0: never");
  app.add_option("--check-ends", options.check_ends,
                 "of every so many new states: free and give back all, and end the allocator")
      ->capture_default_str();
  app.add_option("--check-replay", options.check_replay,
                 "of every so many new states: get there again from the start, fully checked")
      ->capture_default_str();
  app.add_option("--check-merging", options.check_merging,
                 "of every so many states that were seen before: compare all that can follow")
      ->capture_default_str();
  app.add_option("--json", wanted.json, "write the figures to this file");
  app.add_option("--transitions", wanted.transitions,
                 "write each step of the scopes that are modelled to FOLDER/SCOPE.transitions")
      ->check(CLI::ExistingDirectory);
  app.add_option("--progress", wanted.progress, "seconds between lines of progress; 0: none")
      ->capture_default_str();
  app.footer("Exit codes: 0 all holds; 1 something does not; 2 wrong usage, or it cannot go on.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  try {
    return run(wanted);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exhaust: %s\n", error.what());
    return 2;
  }
}
