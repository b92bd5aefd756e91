// The smallest number for which something holds, where it holds for all from there on.
#pragma once

#include <cstdint>
#include <optional>

namespace cairn::bench::peers {

struct SearchRange {
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::uint64_t within = 1;  // How far above the smallest the answer may lie; at least 1.
};

// None where it does not hold for `most`. Asks near `least` first, and ever further away.
template <class Holds>
std::optional<std::uint64_t> smallest_that(const SearchRange& range, Holds&& holds) {
  if (holds(range.least)) return range.least;
  std::uint64_t fails = range.least;
  std::uint64_t step = range.within;
  std::uint64_t enough = range.most;
  while (true) {
    const bool is_last = range.most - range.least <= step;
    const std::uint64_t asked = is_last ? range.most : range.least + step;
    if (holds(asked)) {
      enough = asked;
      break;
    }
    if (is_last) return std::nullopt;
    fails = asked;
    step *= 2;
  }
  while (enough - fails > range.within) {
    const std::uint64_t middle = fails + (enough - fails) / 2;
    (holds(middle) ? enough : fails) = middle;
  }
  return enough;
}

}  // namespace cairn::bench::peers
