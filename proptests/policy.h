// The size policy and the search of src/heap/README.md once more, naively, over a map of memory:
// what properties hold the allocator's decisions against. All sizes are in bytes.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>

#include "cairn/block_map.h"
#include "cairn/options.h"

namespace cairn::testing {

inline constexpr std::uint64_t request_limit_bytes = std::uint64_t{1} << 60;

// REQUIRES: 0 < requested < request_limit_bytes.
std::uint64_t round_request(std::uint64_t requested, const Options& options);
std::uint64_t segment_for(std::uint64_t rounded, const Options& options);
// How much larger than that a block may be at most when it is handed out.
std::uint64_t most_waste(std::uint64_t rounded, const Options& options);

struct Wanted {
  std::uint64_t rounded = 0;
  std::uint64_t alignment = 512;
  std::uint64_t stream = 0;
};
// A free block that the search must find: none of the stream's is smaller and holds an aligned
// range of that size. None where the oversize rules forbid it, too.
std::optional<BlockInfo> find_candidate(const BlockMap& map, const Wanted& wanted,
                                        const Options& options);

}  // namespace cairn::testing
