// The map at the start of a recording, from the map at its end: the events are undone, last first.
//
// Only the requested size of a block that was live at the start and freed within the recording is
// known. The size that it took is found thus:
// - in the small pool a block takes exactly its rounded size, since every rest is split off;
// - an allocation takes the lowest part of a free block, so where one is seen, the live block
//   before it ends there;
// - every free block of the large pool is larger than 1 MiB, since no smaller rest is split off; so
//   a gap of up to 1 MiB that follows a live block belongs to it;
// - a block of max_split_size or more is never split: all up to the next live block belongs to it.
// Else the rounded size is assumed. That stays ambiguous where a gap of more than 1 MiB follows the
// block and nothing is allocated at the gap's beginning before the block is freed: up to 1 MiB of
// the gap may have been the block's.
#pragma once

#include "testing/import_recording.h"

namespace cairn::testing {

struct Rewound {
  RecordedMap initial;
  std::uint64_t assumed_sizes = 0;  // Blocks whose size stays ambiguous.
};

// REQUIRES: recording.final is there and passes check_map. `recording.initial` is not looked at.
ImportResult<Rewound> rewind(const Recording& recording);

}  // namespace cairn::testing
