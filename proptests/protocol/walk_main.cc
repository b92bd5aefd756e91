// Walks through small scopes of the real allocator and writes every transition once, for the model
// of the life of a block to be asked whether it has it (ci/model).
#include <CLI/CLI.hpp>
#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "testing/command_line.h"
#include "walk.h"

namespace {

using cairn::protocol::in_text;
using cairn::protocol::Scope;
using cairn::protocol::Transition;
using cairn::protocol::Walk;

using namespace cairn::literals;

// The sizes are of small requests: a segment is 2 MiB, and what is left of a block becomes one.
constexpr std::array scopes{
    Scope{"one_segment_of_2", 1, 2, 1, 1_MiB, ""},
    Scope{"two_segments", 2, 2, 1, 1_MiB, ""},
    Scope{"one_segment", 1, 4, 2, 512_KiB, ""},
    Scope{"without_the_lock", 2, 2, 1, 1_MiB, "release_lock_on_cudamalloc:True"},
};

bool write(const std::string& folder, const Scope& scope, const Walk& walk) {
  std::ofstream file(folder + "/" + scope.name + ".transitions");
  for (const Transition& transition : walk.transitions) {
    file << in_text(transition.before) << " |";
    for (const std::string& answer : transition.answers) file << ' ' << answer;
    file << " | " << in_text(transition.after) << '\n';
  }
  return file.good();
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{"Writes the transitions of small scopes to FOLDER, one file a scope."};
  std::string folder;
  std::size_t states = 300;
  app.add_option("FOLDER", folder)->required()->check(CLI::ExistingDirectory);
  app.add_option("--states", states, "how many states of each scope to start from")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  for (const Scope& scope : scopes) {
    const Walk walk = cairn::protocol::walk(scope, states);
    std::printf("%s %zu %zu %zu %zu %zu\n", scope.name, walk.states, walk.states_left,
                walk.operations, walk.transitions.size(), walk.outside);
    std::fflush(stdout);
    if (!write(folder, scope, walk)) {
      std::fprintf(stderr, "protocol_walk: cannot write to %s\n", folder.c_str());
      return 2;
    }
  }
  return 0;
}
