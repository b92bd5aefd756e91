// The arithmetic of sizes (heap/size_policy.h, heap/free_index.h) against a second formulation, for
// all inputs of a range. Where the heap computes, this tells the steps of each function in order:
// at which sizes it jumps, and by how much, as PyTorch's documentation and sources have it. So
// nothing is divided, rounded or searched for here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cairn::arithmetic {

// One function under all of its settings.
struct Swept {
  std::string function;
  std::uint64_t settings = 0;
  std::uint64_t inputs = 0;  // That were tried, over all settings.
  std::uint64_t wrong = 0;
  std::string first_wrong;  // In words.
};

// How far every 512-byte step is tried, as a power of two; above, up to 2^60, both sides of each
// jump where they are few, and of the first, middle and last ones of each doubling elsewhere.
struct Range {
  int every_step_below;
};
inline constexpr Range near_range{27};   // 128 MiB.
inline constexpr Range whole_range{36};  // 64 GiB: the last setting of divisions begins at 32 GiB.

Swept rounding(Range range);
Swept pools(Range range);
Swept segment_sizes(Range range);
Swept splits();
Swept oversize();
Swept bins(Range range);

std::vector<Swept> sweep_all(Range range);

}  // namespace cairn::arithmetic
