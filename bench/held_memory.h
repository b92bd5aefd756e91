// What a sequence of requests, from an empty allocator, makes it hold of the device.
#pragma once

#include <cstdint>
#include <optional>

#include "bench/sequence.h"

namespace cairn::bench {

struct HeldMemory {
  std::uint64_t peak_reserved_bytes = 0;
  std::uint64_t malloc_calls = 0;
  std::uint64_t free_calls = 0;
  std::uint64_t event_calls = 0;  // Of any kind.
};

HeldMemory held_by_cairn(const Sequence& sequence);
// None in a build without the CUDA Toolkit.
std::optional<HeldMemory> held_by_cub(const Sequence& sequence);
// A call of the driver for each request and each free. Sizes are taken as multiples of 512 bytes,
// the least that cudaMalloc can do.
HeldMemory held_directly(const Sequence& sequence);

}  // namespace cairn::bench
