// Generators of tapes. Each case has tastes of its own (swarm testing), which are drawn first, as
// values that a failure shows: how often there is which operation, how large requests are, how long
// blocks live, how short memory is.
// Thread safety: pure functions.
#pragma once

#include <rapidcheck.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>

#include "testing/op.h"

namespace cairn::testing {

using Weights = std::array<int, op_kind_count>;  // By OpKind.

// What the cases of one property have in common.
struct Taste {
  std::size_t operations = 200;
  Weights more{};              // Added to the weight of a kind, which then never is 0.
  bool is_short = false;       // Of memory, so that requests fail.
  bool has_faults = true;      // The driver refuses calls.
  bool loses_devices = false;  // Faults may be sticky.
};  // No case keeps PyTorch's defects, of which some promises do not hold.

enum class Sizes : std::uint8_t { tiny, borders, mixed, large };
enum class Lifetimes : std::uint8_t { any, latest_first, oldest_first, some_stay };

// The tastes of one case.
struct Swarm {
  std::size_t operations = 0;
  Weights weights{};
  Sizes sizes = Sizes::mixed;
  Lifetimes lifetimes = Lifetimes::any;
  int calm = 2;  // One in so many operations is said in a way of its own.
  Setup setup;
};
std::ostream& operator<<(std::ostream& out, const Swarm& swarm);
std::ostream& operator<<(std::ostream& out, const Tape& tape);  // How long it is.

// Neither shrinks: what fails is made short as a Program.
rc::Gen<Swarm> swarms(const Taste& taste);
rc::Gen<Tape> tapes(const Swarm& swarm);

// Of 40 operations at most, all of whose fields shrink. No device is lost.
rc::Gen<Tape> short_tapes();

}  // namespace cairn::testing
