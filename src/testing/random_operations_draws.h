// What RandomOperations draws by chance alone: sizes around the borders of size classes, settings,
// faults of the driver. The same seed and the same calls give the same draws.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "testing/program.h"

namespace cairn::testing {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}

  // REQUIRES, here and below: the limit is not 0, the container is not empty.
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  template <class Container>
  const auto& pick(const Container& container) {
    return container[below(container.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// The tastes of one seed (swarm testing: Groce et al., 2012), by which its draws differ from those
// of other seeds.
struct Tastes {
  explicit Tastes(Dice& dice);

  int devices;
  std::uint64_t most_live;         // Blocks at a time.
  std::uint64_t largest_exponent;  // Of sizes that are near no border.
  bool is_oversize;                // Little memory, and requests around max_split_size.
  bool has_limits;                 // Limits of memory, garbage collection, rejections.
  bool has_identity;               // stream_identity:id
  bool has_lost_devices;           // Sticky errors, and faults that last.
  bool has_default_streams;        // Work on s0 and ptds as well.
};

Bytes draw_memory(Dice& dice, const Tastes& tastes);
Bytes draw_size(Dice& dice, const Tastes& tastes);
Bytes draw_alignment(Dice& dice);
std::uint64_t draw_ticks(Dice& dice);
// Text of `conf`; empty: no settings.
std::string draw_settings(Dice& dice, const Tastes& tastes);
// Text of `reconfigure`, now and then with a setting that cannot change.
std::string draw_new_settings(Dice& dice);
double draw_fraction(Dice& dice);
Fault draw_fault(Dice& dice, const Tastes& tastes);

}  // namespace cairn::testing
