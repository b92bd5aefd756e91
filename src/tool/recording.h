// What a run of a plan was, moment by moment: the totals, and how the map of all devices changed.
// The start is moment 0, and moment n is what operation n of the plan left. The maps of any two
// moments follow from one another by the changes between them, forwards or backwards.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.h"
#include "cairn/block_map.h"
#include "driver/driver_call.h"

namespace cairn::tool {

struct Totals {  // Bytes, over all devices.
  std::uint64_t reserved = 0;
  std::uint64_t active = 0;
  std::uint64_t allocated = 0;
  std::uint64_t requested = 0;     // Of active blocks.
  std::uint64_t largest_free = 0;  // A block.

  bool operator==(const Totals&) const = default;
};

struct MapChange {
  enum class Kind : std::uint8_t { added, removed, retiled };
  Kind kind = Kind::retiled;
  // added: the segment with all its blocks; removed: without. retiled: with the blocks that are new
  // and lie side by side; they tile what the blocks tiled whose place they take.
  SegmentInfo segment;
};

struct Moment {
  Totals totals;
  Address address;  // Of the block that was handed out or taken back; 0: none.
  std::vector<DriverCall> calls;
  std::vector<MapChange> changes;  // Since the moment before.
};

// What the allocator's own block maps were at one moment, in short.
struct MapCheck {
  std::uint64_t moment = 0;
  std::uint32_t digest = 0;
};

struct Recording {
  std::vector<Moment> moments;
  std::vector<MapCheck> checks;
  std::vector<std::uint64_t> stream_ids;  // What the maps call the plan's streams.
};

// A digest (32-bit FNV-1a by words) of the segments and blocks, in order. Digests of several maps
// are chained: `before` is that of the maps before.
inline constexpr std::uint32_t empty_digest = 2166136261U;
std::uint32_t digest(const BlockMap& map, std::uint32_t before = empty_digest);

}  // namespace cairn::tool
