// How each statement is read: tables from its first word to the function that reads what follows.
#pragma once

#include <span>
#include <string_view>

#include "testing/parser_line.h"

namespace cairn::testing {

// Where a statement may stand, and what may stand around it.
enum class Place {
  declaration,  // Before the first operation; no thread, no error.
  setting,      // Among the declarations too; no error.
  operation,    // Anywhere after; may be expected to fail.
  certain,      // Likewise, but no error of the allocator's can come of it.
};

struct StatementRule {
  std::string_view word;
  Operation (*parse)(Line& line);
  Place place;
};

std::span<const StatementRule> world_statements();      // Declarations and the simulated world.
std::span<const StatementRule> allocator_statements();  // The allocator's operations.
std::span<const StatementRule> check_statements();      // Threads, and what must be true.

// A sum, a comparison, a sum.
Operation parse_expect(Line& line);

}  // namespace cairn::testing
