#include "invariants/model/memory.h"

#include <algorithm>
#include <tuple>

namespace cairn::model {

std::vector<Place> Memory::free_blocks(PoolKind pool, BestFitTie tie) const {
  std::vector<Place> found;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (segments[s].pool != pool) continue;
    for (std::size_t b = 0; b < segments[s].blocks.size(); ++b) {
      if (!segments[s].blocks[b].allocated) found.push_back({s, b});
    }
  }
  const auto key = [&](Place place) {
    const std::size_t age = tie == BestFitTie::segment ? place.segment : 0;
    return std::tuple(segment(place).stream, block(place).size, age, block(place).ptr);
  };
  std::sort(found.begin(), found.end(), [&](Place a, Place b) { return key(a) < key(b); });
  return found;
}

std::vector<Place> Memory::free_segments(PoolKind pool, BestFitTie tie) const {
  std::vector<Place> found = free_blocks(pool, tie);
  std::erase_if(found, [&](Place place) { return segment(place).is_split(); });
  return found;
}

std::optional<Place> Memory::live_block(Address address) const {
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (!segments[s].span.contains(address)) continue;
    for (std::size_t b = 0; b < segments[s].blocks.size(); ++b) {
      const Block& block = segments[s].blocks[b];
      if (block.ptr == address && block.allocated) return Place{s, b};
    }
  }
  return std::nullopt;
}

}  // namespace cairn::model
