// What is run at the same time: the operations of the public face by a name each, and the states
// from which they start.
// Thread safety: plain data and pure functions.
#pragma once

#include <string>
#include <vector>

#include "testing/program.h"

namespace cairn::testing {

struct NamedOperation {
  std::string name;
  std::string lines;  // `{}` stands for a name that no other thread binds, `#` for its number.
};
const std::vector<NamedOperation>& named_operations();

// Threes of them that have more to say than their pairs, such as hit+free+empty_cache.
const std::vector<std::string>& chosen_triples();

struct StartState {
  std::string name;
  std::string lines;
  bool has_callbacks = false;
};
const std::vector<StartState>& start_states();

// Threads 1, 2, ... run these from that state.
Program program_of(const StartState& state, const std::vector<NamedOperation>& operations);

}  // namespace cairn::testing
