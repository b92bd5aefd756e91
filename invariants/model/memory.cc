#include "invariants/model/memory.h"

#include <algorithm>
#include <tuple>

namespace cairn::model {

// Every block starts at a multiple of 512, so only a stronger alignment can move the start.
Address Block::aligned_start(Bytes alignment) const {
  if (alignment <= Bytes{512}) return ptr;
  const Bytes over{ptr.value % alignment.count};
  return over == Bytes{0} ? ptr : ptr + (alignment - over);
}

bool Block::holds(Bytes wanted, Bytes alignment) const {
  const Address start = aligned_start(alignment);
  return start <= end() && end() - start >= wanted;
}

bool Memory::comes_before(Place a, Place b, BestFitTie tie) const {
  const auto key = [&](Place place) {
    const std::size_t age = tie == BestFitTie::segment ? place.segment : 0;
    return std::tuple(segment(place).stream, block(place).size, age, block(place).ptr);
  };
  return key(a) < key(b);
}

std::vector<Place> Memory::free_segments(PoolKind pool, BestFitTie tie) const {
  std::vector<Place> found;
  for (std::size_t s = 0; s < segments.size(); ++s) {
    const Segment& segment = segments[s];
    if (segment.pool != pool || segment.is_split()) continue;
    if (segment.blocks.front().is_free()) found.push_back({s, 0});
  }
  std::sort(found.begin(), found.end(), [&](Place a, Place b) { return comes_before(a, b, tie); });
  return found;
}

std::optional<Place> Memory::block_at(Address address) const {
  for (std::size_t s = 0; s < segments.size(); ++s) {
    if (!segments[s].span.contains(address)) continue;
    for (std::size_t b = 0; b < segments[s].blocks.size(); ++b) {
      if (segments[s].blocks[b].ptr == address) return Place{s, b};
    }
  }
  return std::nullopt;
}

std::optional<Place> Memory::live_block(Address address) const {
  const auto place = block_at(address);
  return place && block(*place).allocated ? place : std::nullopt;
}

Bytes Memory::pending_bytes() const {
  Bytes sum;
  for (const Segment& segment : segments) {
    for (const Block& block : segment.blocks) {
      if (block.is_pending()) sum += block.size;
    }
  }
  return sum;
}

}  // namespace cairn::model
