// All that can happen in a scope, on the real code, breadth first: World with the allocator on the
// simulated GPU, the reference model in lockstep, and the judge. Each new state is held against all
// invariants and the model's whole map. A state that was seen before, as far as anything can depend
// on it (canonical.h), is not gone on from.
//
// Uses the one arena of the process, so one exploration at a time; not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "proptests/protocol/tap.h"
#include "scopes.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::exhaust {

struct Progress {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t to_go = 0;  // States that nothing was tried from yet.
  int depth = 0;
  std::uint64_t bytes = 0;  // For what was seen, and for images.
};

struct ExploreOptions {
  int depth = 0;             // So many operations at most; 0: until nothing new comes.
  std::uint64_t states = 0;  // Ends after so many; 0: never.
  // For images of states to go on from. Where they do not suffice, the way there is gone again.
  std::size_t bytes_ahead = std::size_t{1} << 30;
  // Of every so many, 0 is none:
  std::uint64_t check_ends = 16;  // New states: all is freed, waited for and given back, and the
                                  // allocator ends; nothing may be left.
  std::uint64_t check_replay = 1000;   // New states: a World of its own gets to the same.
  std::uint64_t check_merging = 1000;  // States seen before: what can happen next is the same.
  testing::WorldOptions world;  // Checkers and maps are for each new state, whatever this says.
  std::function<void(const Progress&)> progress;  // Once for each state that was gone on from.
  // Gets each step of the exploration's World in the terms of the model, the same ones again and
  // again. REQUIRES: the scope is modelled; `world` neither wraps the driver nor meddles.
  std::function<void(const protocol::Transition&)> step;
  // The code crashes, at the last operation of this Program, or when all is given back after it.
  // Then the process ends.
  std::function<void(const testing::Program&)> crashed;
};

// Something does not hold.
struct Finding {
  testing::Program program;  // From the start.
  std::string expected;
  std::string found;
};

struct Exploration {
  std::uint64_t states = 0;
  std::uint64_t transitions = 0;
  std::uint64_t failing_calls = 0;  // Transitions in which a driver call failed by choice.
  int depth = 0;                    // All states are known that so many operations lead to.
  bool is_closed = false;           // Nothing else can happen.
  std::vector<std::uint64_t> states_by_depth;
  std::uint64_t ends_checked = 0;
  std::uint64_t replays_checked = 0;
  std::uint64_t merges_checked = 0;
  std::optional<Finding> finding;
};

Exploration explore(const Scope& scope, const ExploreOptions& options = {});

}  // namespace cairn::exhaust
