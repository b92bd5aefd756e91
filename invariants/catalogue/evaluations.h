// What was counted by count.h: how often each invariant was evaluated in this process.
//
// Thread safety: each count is read in one step; counts of one moment are not had together while
// others count.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "invariants/catalogue/catalogue.h"

namespace cairn::invariants {

std::uint64_t evaluations(const Invariant& invariant);

// In the order of `all`.
std::vector<const Invariant*> never_evaluated();

// Of the whole catalogue, in its order: what a process says to another.
using Evaluations = std::array<std::uint64_t, all.size()>;
Evaluations all_evaluations();
// Counts what another process counted.
void add_evaluations(const Evaluations& counted);

// One line: the ids never evaluated, or that there is none.
std::string never_evaluated_in_words();
// A table of ids and counts, in the order of `all`, and that line.
std::string evaluations_in_words();

// Where CAIRN_COUNTS is set in the environment: when the process exits, the table goes to stderr.
// Not while threads change the environment; once is enough.
void print_evaluations_at_exit_if_wanted();

}  // namespace cairn::invariants
