#include "policy.h"

#include <algorithm>
#include <bit>

namespace cairn::testing {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

std::uint64_t up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

bool is_large(std::uint64_t rounded) { return rounded > mib; }

bool holds(const BlockInfo& block, const Wanted& wanted) {
  const std::uint64_t begin = up(block.address, wanted.alignment);
  return begin + wanted.rounded <= block.address + block.size_bytes;
}

}  // namespace

std::uint64_t round_request(std::uint64_t requested, const Options& options) {
  const int exponent = static_cast<int>(std::bit_width(requested)) - 1;
  const auto entry = static_cast<std::size_t>(std::clamp(exponent - 20, 0, 15));
  const std::uint64_t divisions = options.roundup_power2_divisions.at(entry);
  // That is: requested > 512 * divisions.
  const bool takes_divisions = divisions > 1 && (requested - 1) / 512 >= divisions;
  if (!takes_divisions) return up(requested, 512);
  return up(requested, std::bit_floor(requested) / divisions);
}

std::uint64_t segment_for(std::uint64_t rounded, const Options& options) {
  if (!is_large(rounded)) return 2 * mib;
  return rounded < 10 * mib ? options.large_segment_size_bytes : up(rounded, 2 * mib);
}

std::uint64_t most_waste(std::uint64_t rounded, const Options& options) {
  if (!is_large(rounded)) return 0;
  if (rounded < options.max_split_size_bytes) return mib;
  return std::max(options.max_non_split_rounding_bytes, 2 * mib) - 1;
}

std::optional<BlockInfo> find_candidate(const BlockMap& map, const Wanted& wanted,
                                        const Options& options) {
  std::optional<BlockInfo> best;
  for (const SegmentInfo& segment : map) {
    if (segment.stream != wanted.stream || segment.is_large != is_large(wanted.rounded)) continue;
    for (const BlockInfo& block : segment.blocks) {
      const bool fits = block.state == BlockState::inactive && holds(block, wanted);
      if (fits && (!best || block.size_bytes < best->size_bytes)) best = block;
    }
  }
  if (!best) return std::nullopt;
  const bool is_oversize = wanted.rounded >= options.max_split_size_bytes;
  const bool may_serve =
      is_oversize ? best->size_bytes - wanted.rounded < options.max_non_split_rounding_bytes
                  : best->size_bytes < options.max_split_size_bytes;
  return may_serve ? best : std::nullopt;
}

}  // namespace cairn::testing
