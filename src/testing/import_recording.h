// A recorded run of PyTorch's allocator: its map at the start and at the end, and what happened in
// between; and the Program that does the same and expects the same addresses. Snapshots and event
// tables are two ways to write one down.
//
// What a recording does not say, and what the Program therefore assumes:
// - A block that was live at the start is known by the size that it takes, so its requested size is
//   not expected at the end.
// - A free waits for the events of other streams. The Program frees at `free_completed`, when the
//   block could be used again, and knows no uses by other streams. A block still pending at the end
//   stays allocated in the Program.
// - Segments were given back by empty_cache, the retry ladder, or garbage collection; the recording
//   does not say which. A run of segment_free becomes one `empty_cache`; where that gives back more
//   than the recording did, a note says so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "testing/import_result.h"
#include "testing/import_settings.h"

namespace cairn::testing {

struct RecordedBlock {
  Address address;
  Bytes size;
  std::optional<Bytes> requested;
  BlockState state = BlockState::inactive;
};

struct RecordedSegment {
  DeviceIndex device = 0;
  Address address;
  Bytes size;
  PoolKind pool = PoolKind::large;
  std::uint64_t stream = 0;  // The handle; 0 is the legacy default stream.
  std::vector<RecordedBlock> blocks;

  Span span() const { return {address, size}; }
};
using RecordedMap = std::vector<RecordedSegment>;

struct RecordedEvent {
  enum class Action { alloc, free_requested, free_completed, segment_alloc, segment_free };
  Action action = Action::alloc;
  DeviceIndex device = 0;
  std::uint64_t stream = 0;
  Address address;
  Bytes size;         // Of a block: as requested.
  std::string where;  // For errors: "line 12", "device_traces[0][17]".
};

// By PyTorch's name: "free_requested".
std::optional<RecordedEvent::Action> action_from(std::string_view name);

struct Recording {
  RecordedSettings settings;
  std::string best_fit_tie;  // "address" or "segment"; empty: not set.
  RecordedMap initial;
  std::optional<RecordedMap> final;  // None: nothing is expected at the end.
  std::vector<RecordedEvent> events;
};

// Are the segments apart from each other, and does each consist of its blocks, without gap or
// overlap and with no two free ones side by side? `name` is the map's in the error.
std::optional<ImportError> check_map(const RecordedMap& map, const std::string& name);

// The name of a device's stream, by its handle: s0 for 0, else s1, s2, ... in order of appearance.
class StreamNames {
 public:
  std::string operator()(DeviceIndex device, std::uint64_t handle);

 private:
  std::map<std::pair<DeviceIndex, std::uint64_t>, std::string> names_;
};

// REQUIRES: both maps pass check_map.
ImportResult<Imported> program_of(const Recording& recording);

}  // namespace cairn::testing
