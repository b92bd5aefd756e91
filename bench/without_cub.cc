// A build without the CUDA Toolkit measures Cairn alone.
#include "bench/hit_cases.h"

namespace cairn::bench {

bool register_cub() { return false; }

}  // namespace cairn::bench
