// Walks through a small scope of the real allocator in which the lock is dropped around the
// driver's malloc, and writes every transition once, for the model of the life of a block to be
// asked whether it has it (ci/model). What is under the lock throughout, exhaust writes down.
#include <CLI/CLI.hpp>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <string>

#include "testing/command_line.h"
#include "walk.h"

namespace {

using cairn::protocol::Transition;
using cairn::protocol::Walk;

bool write(const std::string& path, const Walk& walk) {
  std::ofstream file(path);
  for (const Transition& transition : walk.transitions) file << line_of(transition) << '\n';
  file.flush();
  return file.good();
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{
      "Writes to FILE what the allocator does where it asks the driver without its lock.\n"
      "Prints from how many states, how many are left, and how many steps were tried."};
  std::string path;
  std::size_t states = 300;
  app.add_option("FILE", path)->required();
  app.add_option("--states", states, "how many states to start from")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  const Walk walk = cairn::protocol::walk(states);
  std::printf("%zu %zu %zu\n", walk.states, walk.states_left, walk.tries);
  if (write(path, walk)) return 0;
  std::fprintf(stderr, "protocol_walk: cannot write %s\n", path.c_str());
  return 2;
}
