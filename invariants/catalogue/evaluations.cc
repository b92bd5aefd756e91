#include "invariants/catalogue/evaluations.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "invariants/catalogue/count.h"

namespace cairn::invariants {
namespace {

constexpr bool has_places_of_its_own() {
  std::array<bool, evaluation_counts.size()> taken{};
  return std::ranges::all_of(all, [&](const Invariant& invariant) {
    const std::size_t place = place_of(invariant);
    return place < taken.size() && !std::exchange(taken[place], true);
  });
}
static_assert(has_places_of_its_own(), "two ids are counted as one");

void print_to_stderr() { std::fputs(evaluations_in_words().c_str(), stderr); }

}  // namespace

constinit std::array<std::atomic<std::uint64_t>, 26 * most_of_a_letter> evaluation_counts{};

std::uint64_t evaluations(const Invariant& invariant) {
  return evaluation_counts.at(place_of(invariant)).load(std::memory_order_relaxed);
}

std::vector<const Invariant*> never_evaluated() {
  std::vector<const Invariant*> never;
  for (const Invariant& invariant : all) {
    if (evaluations(invariant) == 0) never.push_back(&invariant);
  }
  return never;
}

Evaluations all_evaluations() {
  Evaluations counted{};
  std::ranges::transform(all, counted.begin(), evaluations);
  return counted;
}

void add_evaluations(const Evaluations& counted) {
  for (std::size_t i = 0; i < all.size(); ++i) count_evaluations(all[i], counted[i]);
}

std::string never_evaluated_in_words() {
  std::string ids;
  for (const Invariant* invariant : never_evaluated()) ids += std::string(" ") + invariant->id;
  return "invariants never evaluated:" + (ids.empty() ? " none" : ids) + "\n";
}

std::string evaluations_in_words() {
  std::string table = "invariant            evaluated\n";
  for (const Invariant& invariant : all) {
    std::array<char, 64> line{};
    std::snprintf(line.data(), line.size(), "%-9s %20llu\n", invariant.id,
                  static_cast<unsigned long long>(evaluations(invariant)));
    table += line.data();
  }
  return table + never_evaluated_in_words();
}

void print_evaluations_at_exit_if_wanted() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): as it says.
  if (std::getenv("CAIRN_COUNTS") != nullptr) std::atexit(print_to_stderr);
}

}  // namespace cairn::invariants
