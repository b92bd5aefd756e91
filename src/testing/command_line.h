// How programs read their command line: --help is answered on stdout, with exit code 0; what cannot
// be understood in words on stderr, with 2.
#pragma once

#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>

namespace cairn::testing {

// Where words go.
struct Output {
  std::ostream& out = std::cout;
  std::ostream& err = std::cerr;
};

// Gives the options of the app their values, or else what the program has to exit with at once.
inline std::optional<int> exit_code_of(CLI::App& app, int count, const char* const* words,
                                       const Output& output = {}) {
  try {
    app.parse(count, words);
  } catch (const CLI::ParseError& error) {
    return app.exit(error, output.out, output.err) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

}  // namespace cairn::testing
