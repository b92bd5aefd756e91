// Runs a property over tapes, and makes of what fails a Program that is short and saved.
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "promises.h"
#include "tapes.h"
#include "testing/op_run.h"

namespace cairn::testing {

// That so many at least came about in 100 cases: else the property said little.
struct Floor {
  const char* what;
  std::uint64_t times;
};

struct Property {
  std::vector<NamedPromise> promises;
  Taste taste;
  std::vector<Floor> floors;
  bool lockstep = false;  // Off, the promise stands alone, with the judge.
  bool checkers = false;
};

// Over as many cases as RC_PARAMS says, or 100.
::testing::AssertionResult holds(const std::string& name, const Property& property);

// What was found, as short as it goes, and the name of the file where it was saved. REQUIRES: the
// run does not hold.
std::string describe_failure(const std::string& name, const OpRun& run,
                             const WorldOptions& options);

// Of all properties so far.
const Histogram& executed_operations();

// RC_PARAMS with a seed in it, drawn where it has none; or why such parameters are refused.
std::string with_seed(const std::string& parameters);
std::optional<std::string> refusal_of(std::string_view parameters);

}  // namespace cairn::testing
