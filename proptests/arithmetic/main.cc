// Tries the arithmetic of sizes for all inputs (sweep.h). Exits 0 if all are right, 1 if not.
#include <CLI/CLI.hpp>
#include <cstdio>

#include "sweep.h"
#include "testing/command_line.h"

int main(int count, char** arguments) {
  using Number = unsigned long long;
  CLI::App app{"Tries the arithmetic of sizes against a second formulation, for all inputs."};
  bool whole = false;
  app.add_flag("--whole", whole, "every 512-byte step up to 64 GiB, not 128 MiB; a minute or more");
  if (const auto code = cairn::testing::exit_code_of(app, count, arguments)) return *code;
  const auto range = whole ? cairn::arithmetic::whole_range : cairn::arithmetic::near_range;
  Number wrong = 0;
  for (const auto& swept : cairn::arithmetic::sweep_all(range)) {
    std::printf("%s %llu %llu %llu\n", swept.function.c_str(), Number{swept.settings},
                Number{swept.inputs}, Number{swept.wrong});
    if (swept.wrong > 0) std::fprintf(stderr, "%s\n", swept.first_wrong.c_str());
    wrong += swept.wrong;
  }
  return wrong == 0 ? 0 : 1;
}
