// Reads the text form of a Program (README.md beside this file). Any bytes at all are input: what
// is not a Program is refused whole, with the place and the reason. Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "testing/program.h"

namespace cairn::testing {

struct ParseError {
  int line = 0;    // From 1.
  int column = 0;  // From 1, in bytes.
  std::string message;
};

Result<Program, ParseError> parse_program(std::string_view text);

}  // namespace cairn::testing
