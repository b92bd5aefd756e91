// A walk through the states of a small scope on the real allocator, breadth first, with the lock
// dropped around the driver's malloc: each operation of a small alphabet in each state that the
// model of the life of a block can tell apart, plain, with a failing driver call, and with another
// thread at work during the malloc. It gives every transition once. The scope is two segments of
// two granules of 1 MiB, requests of one, and three streams (WALKED_CONSTANTS of ci/model).
#pragma once

#include <cstddef>
#include <set>

#include "tap.h"

namespace cairn::protocol {

struct Walk {
  std::set<Transition> transitions;
  std::size_t states = 0;       // Whose every operation was tried.
  std::size_t states_left = 0;  // That were seen and not tried, as `most_states` were.
  std::size_t tries = 0;        // Of an operation in a state.
};

// REQUIRES: most_states > 0.
Walk walk(std::size_t most_states);

}  // namespace cairn::protocol
