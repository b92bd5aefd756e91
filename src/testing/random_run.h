// One run of random operations: the Program that came of a seed, and what became of it.
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

struct RandomRun {
  Program program;  // As it went.
  StepResult result;
  std::optional<Statement> mistake;  // Should make sense and did not; `result` says why.
  std::uint64_t operations = 0;      // Carried out.
  std::uint64_t failed = 0;          // Of these, as they had to.
  std::uint64_t mistakes = 0;        // Made no sense, as may happen; left out.
  std::map<std::size_t, std::uint64_t> succeeded;  // By the operation's place in the variant.

  bool holds() const { return !mistake && result.kind != StepResult::Kind::finding; }
};

RandomRun run_random(std::uint64_t seed, std::uint64_t operations,
                     const WorldOptions& options = {});

// What was found, in words, and the program.
std::string in_words(const RandomRun& run);

}  // namespace cairn::testing
