// One run of a tape: the Program that came of it, and what became of that.
// Thread safety: pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "testing/op.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

// How many operations of each kind were executed, over one run or many.
struct Histogram {
  std::array<std::uint64_t, op_kind_count> executed{};
  // Said nothing, or what made no sense; counted among the executed.
  std::array<std::uint64_t, op_kind_count> without_effect{};

  Histogram& operator+=(const Histogram& other);
  std::uint64_t total() const;
  std::uint64_t total_without_effect() const;
};
// A table, the most frequent kind first.
std::string in_words(const Histogram& histogram);

struct OpRun {
  Program program;  // As it went.
  StepResult result;
  std::optional<Statement> mistake;  // Should make sense and did not; `result` says why.
  std::uint64_t statements = 0;      // Carried out, after the declarations.
  std::uint64_t failed = 0;          // Of these, as they had to.
  std::map<std::size_t, std::uint64_t> succeeded;  // By the operation's place in the variant.
  Histogram histogram;

  bool holds() const { return !mistake && result.kind != StepResult::Kind::finding; }
};

OpRun run_tape(const Tape& tape, const WorldOptions& options = {});
// So many operations drawn from the seed (OpDraws).
OpRun run_seed(std::uint64_t seed, std::size_t operations, const WorldOptions& options = {});

// What was found, in words, and the program.
std::string in_words(const OpRun& run);

}  // namespace cairn::testing
