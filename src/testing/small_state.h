// The state of a small World in a form that can be compared with a formal model's: segments and
// blocks in order of address, streams by number, and how far each use of a block has come. Whoever
// explores all states of a small scope gives one of these before and after each operation.
//
// Thread safety: plain data; small_state() as a World.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "driver/cuda_status.h"

namespace cairn::testing {

class World;

enum class SmallUseState : std::uint8_t {
  recorded,  // record_stream() named the stream; there is no event yet. Of live blocks alone.
  running,   // An event was recorded, and the work before it is not done.
  done       // That work is done, and the allocator has not seen it yet.
};
enum class SmallBlockState : std::uint8_t {
  live,
  pending,  // Freed, and waits for events.
  free
};

struct SmallUse {
  int stream = 0;  // By number; that of its queue, where an event was recorded.
  SmallUseState state = SmallUseState::recorded;
  bool operator==(const SmallUse&) const = default;
};

struct SmallBlock {
  std::size_t segment = 0;  // Its index.
  Bytes offset;             // In the segment.
  Bytes size;
  Bytes requested;  // Of a free block 0.
  SmallBlockState state = SmallBlockState::free;
  int stream = 0;  // Whose requests it serves.
  std::vector<SmallUse>
      uses;  // In order of the streams; of pending blocks, in order of the queues.
  bool operator==(const SmallBlock&) const = default;
};

struct SmallSegment {
  Bytes size;
  PoolKind pool = PoolKind::small;
  int stream = 0;
  bool operator==(const SmallSegment&) const = default;
};

struct SmallState {
  std::vector<SmallSegment> segments;
  std::vector<SmallBlock> blocks;  // In order of address: those of the first segment first.
  std::size_t unused_events = 0;   // In the allocator's pools.
  std::optional<CudaStatus> lost;  // The device.
  bool operator==(const SmallState&) const = default;
};

// Of that device. A stream's number is its index in `streams`, and -1 if it is none of these.
SmallState small_state(const World& world, DeviceIndex device, std::span<const StreamId> streams);

}  // namespace cairn::testing
