// Workloads that a generator draws, all seeded:
//   random-N-of-MMiB  RMM's random allocations (random_allocations.h)
//   hit-same-N        a free and an allocation of the same size, of one of N live blocks, which
//   hit-random-N      have the sizes of training; of any of them, each time
//   batch-N           N blocks of 1 KiB are allocated, then freed, over and over (XLA's)
//   cross-stream      1 MiB is allocated, used by another stream too, and freed, over and over
#pragma once

#include <optional>
#include <string_view>

#include "bench/peers/workload.h"

namespace cairn::bench::peers {

// None where no generator has that name.
std::optional<Workload> drawn_workload(std::string_view name);

}  // namespace cairn::bench::peers
