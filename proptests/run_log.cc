// Prints the logs of Programs (testing/run_log.h), one after another, each under its name, however
// they are run: what is printed is to be the same in any build, process and company. ci/determinism
// compares.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "testing/command_line.h"
#include "testing/gzip_file.h"
#include "testing/liar_in_test.h"
#include "testing/op_run.h"
#include "testing/parser.h"
#include "testing/run_log.h"

namespace {

using cairn::testing::RunLog;
using cairn::testing::WorldOptions;

struct Named {
  std::string name;
  cairn::testing::Program program;
};

struct Wanted {
  std::vector<std::string> files;
  std::vector<std::string> tapes;
  std::uint64_t seeds = 0;
  std::uint64_t operations = 200;
  std::string company = "alone";
  std::string plant;
  bool checks = true;
};

// ---- the faults of --plant: what no log may depend on ----

std::atomic<int> shared_count{0};

// Where a set of pointers begins: as the heap lies in this process.
bool by_order_of_pointers() {
  std::array<std::unique_ptr<int>, 8> numbers;
  std::set<const int*> ordered;
  for (auto& number : numbers) {
    number = std::make_unique<int>(static_cast<int>(reinterpret_cast<std::uintptr_t>(&number)));
    ordered.insert(number.get());
  }
  return (reinterpret_cast<std::uintptr_t>(*ordered.begin()) >> 12) % 2 == 1;
}

// What happens to lie in memory that was just allocated.
bool by_uninitialized_byte() {
  const std::unique_ptr<volatile unsigned char[]> bytes(new volatile unsigned char[64]);
  return bytes[40] >= 128;  // NOLINT(clang-analyzer-core.UndefinedBinaryOperatorResult): planted.
}

bool by_shared_count() { return ++shared_count % 7 == 0; }

// Has no memory where the plant says so.
class Planted final : public cairn::testing::Liar {
 public:
  using Plant = bool (*)();
  Planted(cairn::Driver& below, Plant plant) : Liar(below), plant_(plant) {}
  cairn::DriverResult<cairn::Address> malloc(cairn::DeviceIndex device,
                                             cairn::Bytes size) override {
    if (plant_()) return cairn::Failure{cairn::CudaStatus::out_of_memory};
    return Liar::malloc(device, size);
  }

 private:
  Plant plant_;
};

WorldOptions options_of(const Wanted& wanted) {
  WorldOptions options;
  options.lockstep = wanted.checks;
  options.checkers = wanted.checks;
  if (wanted.plant.empty()) return options;
  const Planted::Plant plant = wanted.plant == "pointer" ? by_order_of_pointers
                               : wanted.plant == "byte"  ? by_uninitialized_byte
                                                         : by_shared_count;
  options.wrap_driver = [plant](cairn::Driver& below) {
    return std::make_unique<Planted>(below, plant);
  };
  return options;
}

// ---- the Programs ----

bool read_file(const std::string& file, std::vector<Named>& programs) {
  const auto content = cairn::testing::read_content(file);
  if (!content) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), content.error().c_str());
    return false;
  }
  const auto program = cairn::testing::parse_program(*content);
  if (!program) {
    std::fprintf(stderr, "%s:%d:%d: %s\n", file.c_str(), program.error().line,
                 program.error().column, program.error().message.c_str());
    return false;
  }
  programs.push_back({std::filesystem::path(file).filename().string(), *program});
  return true;
}

bool read_tape(const std::string& file, std::vector<Named>& programs) {
  const auto content = cairn::testing::read_content(file);
  if (!content) {
    std::fprintf(stderr, "%s: %s\n", file.c_str(), content.error().c_str());
    return false;
  }
  const std::vector<std::uint8_t> bytes(content->begin(), content->end());
  const auto run = cairn::testing::run_tape(cairn::testing::tape_of(bytes));
  programs.push_back({"tape " + std::filesystem::path(file).filename().string(), run.program});
  return true;
}

bool gather(const Wanted& wanted, std::vector<Named>& programs) {
  for (const std::string& file : wanted.files)
    if (!read_file(file, programs)) return false;
  for (const std::string& file : wanted.tapes)
    if (!read_tape(file, programs)) return false;
  for (std::uint64_t seed = 1; seed <= wanted.seeds; ++seed) {
    const auto run = cairn::testing::run_seed(seed, wanted.operations);
    programs.push_back({"seed " + std::to_string(seed), run.program});
  }
  return true;
}

// ---- the runs: each gives the logs in the order of the Programs ----

using Logs = std::vector<std::string>;

void run_alone(const std::vector<Named>& programs, const WorldOptions& options, Logs& logs) {
  for (std::size_t i = 0; i < programs.size(); ++i)
    logs[i] = cairn::testing::log_of(programs[i].program, options);
}

// Three at a time, a statement of each in turn, the next Program in the place of one that ended.
void run_interleaved(const std::vector<Named>& programs, const WorldOptions& options, Logs& logs) {
  struct Place {
    std::unique_ptr<RunLog> run;
    std::size_t program = 0;
  };
  std::array<Place, 3> places;
  std::size_t next = 0;
  for (bool goes_on = true; goes_on;) {
    goes_on = false;
    for (Place& place : places) {
      if (place.run == nullptr && next < programs.size()) {
        place = {std::make_unique<RunLog>(programs[next].program, options), next};
        ++next;
      }
      if (place.run == nullptr) continue;
      goes_on = true;
      if (place.run->step()) continue;
      logs[place.program] = place.run->text();
      place.run.reset();
    }
  }
}

// Two host threads, each with every other Program.
void run_on_threads(const std::vector<Named>& programs, const WorldOptions& options, Logs& logs) {
  const auto every_other = [&](std::size_t first) {
    for (std::size_t i = first; i < programs.size(); i += 2)
      logs[i] = cairn::testing::log_of(programs[i].program, options);
  };
  std::thread other(every_other, 1);
  every_other(0);
  other.join();
}

int print_logs(const Wanted& wanted) {
  std::vector<Named> programs;
  if (!gather(wanted, programs)) return 2;
  const WorldOptions options = options_of(wanted);
  Logs logs(programs.size());
  if (wanted.company == "alone") run_alone(programs, options, logs);
  if (wanted.company == "interleaved") run_interleaved(programs, options, logs);
  if (wanted.company == "threads") run_on_threads(programs, options, logs);
  for (std::size_t i = 0; i < programs.size(); ++i)
    std::printf("== %s\n%s", programs[i].name.c_str(), logs[i].c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  Wanted wanted;
  CLI::App app{"Prints all that runs of Programs are to an onlooker, to be compared."};
  app.add_option("FILE", wanted.files, "Programs");
  app.add_option("--tapes", wanted.tapes, "files that are tapes, such as of fuzz/corpus");
  app.add_option("--seeds", wanted.seeds, "how many random Programs, from seed 1 on")
      ->capture_default_str();
  app.add_option("--operations", wanted.operations, "of each random Program")
      ->capture_default_str();
  app.add_option("--company", wanted.company, "how they run: alone, interleaved, threads")
      ->check(CLI::IsMember({"alone", "interleaved", "threads"}))
      ->capture_default_str();
  app.add_flag("--checks,!--no-checks", wanted.checks, "model and checkers after each step");
  app.add_option("--plant", wanted.plant, "a fault that must show: pointer, byte, static")
      ->check(CLI::IsMember({"pointer", "byte", "static"}));
  app.footer("Exit codes: 0 printed; 2 wrong usage, or a file that cannot be read.");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  return print_logs(wanted);
}
