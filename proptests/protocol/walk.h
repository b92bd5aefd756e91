// A walk through the states of a small scope on the real allocator, breadth first: each operation
// of a small alphabet in each state that the model of the life of a block can tell apart, plain and
// with a failing driver call. It gives every transition once.
#pragma once

#include <cstddef>
#include <set>

#include "tap.h"

namespace cairn::protocol {

struct Scope {
  Bounds bounds;
  int largest;           // Request, in granules.
  const char* settings;  // A `conf` line, or nothing.
};

struct Walk {
  std::set<Transition> transitions;
  std::size_t states = 0;       // Whose every operation was tried.
  std::size_t states_left = 0;  // That were seen and not tried, as `most_states` were.
  std::size_t operations = 0;   // Carried out, those that lead up to a state again included.
  std::size_t outside = 0;      // Steps that led out of the scope.
};

// REQUIRES: most_states > 0.
Walk walk(const Scope& scope, std::size_t most_states);

}  // namespace cairn::protocol
