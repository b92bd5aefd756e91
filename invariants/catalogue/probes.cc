#include "invariants/catalogue/probes.h"

namespace cairn::invariants {

constinit std::array<std::atomic<std::uint64_t>, probes.size()> probe_counts{};

}  // namespace cairn::invariants
