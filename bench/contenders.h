// Who is measured side by side. cub::CachingDeviceAllocator comes with the CUDA Toolkit; a build
// without one measures the others.
#pragma once

#include "bench/cairn_contender.h"
#include "bench/direct_contender.h"
#ifdef CAIRN_BENCH_CUB
#include "bench/cub_contender.h"
#endif

namespace cairn::bench {

// Those that keep what was freed. visit.operator()<Contender>() for each.
template <class Visit>
void for_each_cache(Visit&& visit) {
  visit.template operator()<CairnContender>();
#ifdef CAIRN_BENCH_CUB
  visit.template operator()<CubContender>();
#endif
}

template <class Visit>
void for_each_contender(Visit&& visit) {
  for_each_cache(visit);
  visit.template operator()<DirectContender>();
}

}  // namespace cairn::bench
