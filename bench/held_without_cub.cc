#include "bench/held_memory.h"

namespace cairn::bench {

std::optional<HeldMemory> held_by_cub(const Sequence&) { return std::nullopt; }

}  // namespace cairn::bench
