// A way through a scope, from its start, in a World of its own: to see whether another one gets to
// the same state, and to have it as a Program.
//
// Not thread-safe, as a World.
#pragma once

#include <cstdint>
#include <vector>

#include "operations.h"
#include "scopes.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::exhaust {

// The scope's first lines. REQUIRES: they can be read.
testing::Program world_of(const Scope& scope);
// The same in each World of the scope.
std::vector<StreamId> streams_of(const Scope& scope, const testing::World& world);

struct Replay {
  testing::Program program;  // As it went, up to a finding.
  testing::StepResult result;
  std::uint64_t number = 0;  // canonical() of where it led to, if there is no finding.
  bool is_finding() const { return result.kind == testing::StepResult::Kind::finding; }
};

// What a step or the end finds is the result. At the end all is given back, if it is to come.
enum class End : bool { left_out, comes };
Replay replay(const Scope& scope, const std::vector<Choice>& way,
              const testing::WorldOptions& options, End end = End::comes);

}  // namespace cairn::exhaust
