// Counts how often each invariant was evaluated: its condition was looked at, where its premise
// held. What is counted can be read in evaluations.h.
//
// Thread safety: any thread may count. Counts of threads that do so at the same moment may be lost,
// since nothing is added in one step; none is ever made up.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "invariants/catalogue/catalogue.h"

namespace cairn::invariants {

inline constexpr std::size_t most_of_a_letter = 16;

// Where an id is counted: each has a place of its own, from its letter and its number.
constexpr std::size_t place_of(const Invariant& invariant) {
  std::size_t number = 0;
  for (const char* digit = invariant.id + 1; *digit != '\0'; ++digit)
    number = 10 * number + static_cast<std::size_t>(*digit - '0');
  return static_cast<std::size_t>(invariant.id[0] - 'A') * most_of_a_letter + number;
}

extern std::array<std::atomic<std::uint64_t>, 26 * most_of_a_letter> evaluation_counts;

inline void count_evaluations(const Invariant& invariant, std::uint64_t times) {
  std::atomic<std::uint64_t>& count = evaluation_counts[place_of(invariant)];
  count.store(count.load(std::memory_order_relaxed) + times, std::memory_order_relaxed);
}

}  // namespace cairn::invariants
