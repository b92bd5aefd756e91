// The fault matrix over scenarios (see README.md beside this file); ci/faults runs it.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "face.h"
#include "matrix.h"
#include "plants.h"
#include "testing/command_line.h"
#include "testing/parser.h"

namespace {

using cairn::faults::check_face;
using cairn::faults::Matrix;
using cairn::faults::names_of_plants;
using cairn::faults::Part;
using cairn::faults::Plant;
using cairn::faults::plant_of;
using cairn::faults::Scenario;

struct Wanted {
  std::vector<std::string> files;
  Part part;
  std::string plant;
  std::string tally;
};

// False where one cannot be read, which is told.
bool read_scenarios(const std::vector<std::string>& files, std::vector<Scenario>& scenarios) {
  for (const std::string& path : files) {
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    auto program = cairn::testing::parse_program(text);
    if (!file || !program) {
      std::fprintf(stderr, "faults: %s: %s\n", path.c_str(),
                   file ? program.error().message.c_str() : "cannot be read");
      return false;
    }
    scenarios.push_back({std::filesystem::path(path).stem().string(), *std::move(program)});
  }
  return true;
}

bool face_holds(Matrix& matrix) {
  const auto wrong = check_face(matrix.tally());
  for (const std::string& words : wrong)
    std::fprintf(stderr, "the public face: %s\n", words.c_str());
  return wrong.empty();
}

int run(const Wanted& wanted, const std::vector<Scenario>& scenarios, const Plant& plant) {
  Matrix matrix(wanted.part, plant);
  // A plant is to be found by the scenarios, and the face has none.
  bool holds = wanted.part.share != 0 || !wanted.plant.empty() || face_holds(matrix);
  for (const Scenario& scenario : scenarios) {
    if (!holds && !wanted.plant.empty()) break;  // It is found.
    holds = matrix.run(scenario) && holds;
    std::printf("done\t%s\n", scenario.name.c_str());
    std::fflush(stdout);
  }
  std::printf("%llu runs, %s\n", static_cast<unsigned long long>(matrix.tally().plays),
              holds ? "nothing found" : "something found");
  if (!wanted.tally.empty()) {
    std::FILE* file = std::fopen(wanted.tally.c_str(), "w");
    if (file == nullptr) {
      std::fprintf(stderr, "faults: %s cannot be written\n", wanted.tally.c_str());
      return 2;
    }
    matrix.tally().write(file);
    if (std::fclose(file) != 0) return 2;
  }
  return holds ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  CLI::App app{"Runs scenarios with a failure, or two, at each driver call that they make."};
  app.add_option("FILE", wanted.files, "a scenario, which is a Program")->required();
  app.add_option("--share", wanted.part.share, "which share of the runs is done, from 0")
      ->capture_default_str();
  app.add_option("--shares", wanted.part.shares, "of how many")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  app.add_option("--slice", wanted.part.slice, "and of these every N-th")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--plant", wanted.plant, "a fault that is planted, and must be found")
      ->check(CLI::IsMember(names_of_plants()));
  app.add_option("--tally", wanted.tally, "a file for what was counted");
  app.footer("Exit codes: 0 nothing found; 1 found something; 2 wrong usage.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  std::vector<Scenario> scenarios;
  if (wanted.part.share >= wanted.part.shares) {
    std::fprintf(stderr, "faults: --share is below --shares\n");
    return 2;
  }
  if (!read_scenarios(wanted.files, scenarios)) return 2;
  return run(wanted, scenarios, plant_of(wanted.plant).value_or(Plant{}));
}
