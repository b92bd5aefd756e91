#include "testing/import_rewind.h"

#include <algorithm>
#include <map>

#include "base/in_words.h"
#include "heap/size_policy.h"

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT

constexpr Bytes largest_small_segment = 2_MiB;
constexpr Bytes largest_unsplit_rest = 1_MiB;

class Rewinder {
 public:
  explicit Rewinder(const Recording& recording) : recording_(recording) {
    for (const RecordedSegment& segment : *recording.final) take_over(segment);
  }

  ImportResult<Rewound> rewind() {
    for (auto event = recording_.events.rbegin(); event != recording_.events.rend(); ++event) {
      const char* const fault = undo(*event);
      if (fault == nullptr) continue;
      return Failure{ImportError{event->where, "does not fit what follows it: at " +
                                                   in_words(event->address) + " " + fault}};
    }
    Rewound rewound;
    for (const auto& [address, segment] : segments_) {
      if (!add_initial(address, segment, rewound)) {
        return Failure{ImportError{"", "the live blocks of the segment at " + in_words(address) +
                                           " overlap when the events are undone"}};
      }
    }
    return rewound;
  }

 private:
  struct Live {
    std::optional<Bytes> size;
    Bytes rounded;  // What it takes at the least, where the size is not known.
  };
  struct Segment {
    DeviceIndex device = 0;
    Bytes size;
    PoolKind pool = PoolKind::large;
    std::uint64_t stream = 0;
    std::map<Address, Live> live;
  };

  void take_over(const RecordedSegment& recorded) {
    Segment& segment = segments_[recorded.address];
    segment = {recorded.device, recorded.size, recorded.pool, recorded.stream, {}};
    for (const RecordedBlock& block : recorded.blocks) {
      if (block.state != BlockState::inactive)
        segment.live[block.address] = {block.size, block.size};
    }
  }

  // What is wrong, or null.
  const char* undo(const RecordedEvent& event);
  const char* undo_alloc(const RecordedEvent& event);
  const char* undo_free(const RecordedEvent& event);
  const char* undo_segment_alloc(const RecordedEvent& event);
  const char* undo_segment_free(const RecordedEvent& event);
  bool add_initial(Address address, const Segment& segment, Rewound& rewound) const;
  Bytes size_of(const Live& live, Bytes room, PoolKind pool, Rewound& rewound) const;

  // Can a block for a request of `rounded` bytes be of `size`?
  bool may_take(Bytes rounded, Bytes size, PoolKind pool) const {
    if (size <= rounded || pool == PoolKind::small) return size == rounded;
    const auto& max_split_size = recording_.settings.max_split_size;
    const bool never_split = max_split_size && rounded >= *max_split_size;
    return never_split || size - rounded <= largest_unsplit_rest;
  }

  Segment* segment_of(Address address) {
    auto above = segments_.upper_bound(address);
    if (above == segments_.begin()) return nullptr;
    --above;
    const Span span{above->first, above->second.size};
    return span.contains(address) ? &above->second : nullptr;
  }

  const Recording& recording_;
  std::map<Address, Segment> segments_;
};

const char* Rewinder::undo(const RecordedEvent& event) {
  switch (event.action) {
    case RecordedEvent::Action::alloc:
      return undo_alloc(event);
    case RecordedEvent::Action::free_completed:
      return undo_free(event);
    case RecordedEvent::Action::segment_alloc:
      return undo_segment_alloc(event);
    case RecordedEvent::Action::segment_free:
      return undo_segment_free(event);
    default:
      return nullptr;
  }
}

const char* Rewinder::undo_alloc(const RecordedEvent& event) {
  Segment* const segment = segment_of(event.address);
  if (segment == nullptr) return "there is no segment";
  const auto block = segment->live.find(event.address);
  if (block == segment->live.end()) return "there is no live block";
  if (block != segment->live.begin()) {
    auto& [address, before] = *std::prev(block);
    const Bytes reach = event.address - address;
    if (!before.size && may_take(before.rounded, reach, segment->pool)) before.size = reach;
  }
  segment->live.erase(block);
  return nullptr;
}

const char* Rewinder::undo_free(const RecordedEvent& event) {
  if (event.size == 0_B || event.size >= request_limit) return "is no block of such a size";
  Segment* const segment = segment_of(event.address);
  if (segment == nullptr) return "there is no segment";
  if (!is_aligned(event.address, 512_B)) return "there can be no block";
  Live live;
  live.rounded = rounded_size(event.size, recording_.settings);
  if (!segment->live.emplace(event.address, live).second) return "a block is still live";
  return nullptr;
}

const char* Rewinder::undo_segment_alloc(const RecordedEvent& event) {
  const auto segment = segments_.find(event.address);
  if (segment == segments_.end() || segment->second.size != event.size) {
    return "there is no segment of this size";
  }
  if (!segment->second.live.empty()) return "the segment has blocks from before it was made";
  segments_.erase(segment);
  return nullptr;
}

const char* Rewinder::undo_segment_free(const RecordedEvent& event) {
  const Span span{event.address, event.size};
  if (event.size == 0_B || event.size >= request_limit ||
      event.address.value >= request_limit.count) {
    return "is no segment of such a size";
  }
  const auto above = segments_.lower_bound(span.end());
  const bool clear = above == segments_.begin() ||
                     std::prev(above)->first + std::prev(above)->second.size <= span.begin;
  if (!clear) return "there is another segment";
  const PoolKind pool = event.size <= largest_small_segment ? PoolKind::small : PoolKind::large;
  segments_[event.address] = {event.device, event.size, pool, event.stream, {}};
  return nullptr;
}

// False if the blocks overlap.
bool Rewinder::add_initial(Address address, const Segment& segment, Rewound& rewound) const {
  RecordedSegment initial{segment.device, address, segment.size, segment.pool, segment.stream, {}};
  const auto add = [&initial](Address begin, Bytes size, BlockState state) {
    if (size > 0_B) initial.blocks.push_back({begin, size, std::nullopt, state});
  };
  Address done = address;
  for (auto block = segment.live.begin(); block != segment.live.end(); ++block) {
    const auto next = std::next(block);
    const Address end = next == segment.live.end() ? address + segment.size : next->first;
    const Bytes size = size_of(block->second, end - block->first, segment.pool, rewound);
    if (block->first < done || size > end - block->first) return false;
    add(done, block->first - done, BlockState::inactive);
    add(block->first, size, BlockState::active_allocated);
    done = block->first + size;
  }
  add(done, address + segment.size - done, BlockState::inactive);
  rewound.initial.push_back(std::move(initial));
  return true;
}

// `room` is what there is up to the next live block, or the end of the segment.
Bytes Rewinder::size_of(const Live& live, Bytes room, PoolKind pool, Rewound& rewound) const {
  if (live.size) return *live.size;
  if (pool == PoolKind::small || live.rounded >= room) return live.rounded;
  if (may_take(live.rounded, room, pool)) return room;
  ++rewound.assumed_sizes;
  return live.rounded;
}

}  // namespace

ImportResult<Rewound> rewind(const Recording& recording) { return Rewinder(recording).rewind(); }

}  // namespace cairn::testing
