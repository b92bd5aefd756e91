// Searching, splitting, merging: what needs no driver.
#include "invariants/model/device_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "invariants/model/sizes.h"

namespace cairn::model {
namespace {

// Blocks of max_split_size and above are kept for requests of nearly their size.
bool oversize_rules_allow(Bytes wanted, Bytes found, const Options& options) {
  const bool large_request = wanted.count >= options.max_split_size_bytes;
  const bool large_block = found.count >= options.max_split_size_bytes;
  if (!large_request) return !large_block;
  return (found - wanted).count < options.max_non_split_rounding_bytes;
}

BlockState state_of(const Block& block) {
  if (block.allocated) return BlockState::active_allocated;
  return block.is_pending() ? BlockState::active_pending_free : BlockState::inactive;
}

}  // namespace

DeviceModel::DeviceModel(DeviceIndex device, Bytes total_memory, const Surroundings& around)
    : options_(around.options),
      policy_(around.options),
      streams_(around.streams),
      environment_(around.environment),
      device_(device),
      total_memory_(total_memory),
      ledger_(around.options.max_split_size_bytes) {
  set_memory_fraction(options_.per_process_memory_fraction);
}

void DeviceModel::add_initial_segment(const InitialSegment& initial) {
  Segment segment{initial.span, initial.pool, initial.stream, {}};
  Address next = initial.span.begin;
  for (const InitialBlock& block : initial.blocks) {
    Block made{.ptr = next, .size = block.size, .allocated = block.allocated};
    if (block.allocated) made.requested_size = block.size;
    segment.blocks.push_back(std::move(made));
    next = next + block.size;
  }
  ledger_.segment_came(segment.pool, segment.span.size);
  for (const Block& block : segment.blocks) {
    if (block.allocated) {
      ledger_.block_handed_out(segment.pool, block.size, block.requested_size);
    } else if (segment.is_split()) {
      ledger_.inactive_split_changed(segment.pool, 1, signed_count(block.size));
    }
  }
  memory_.segments.push_back(std::move(segment));
}

// The first block that fits decides: if the oversize rules forbid it, no other is tried.
std::optional<Place> DeviceModel::best_fit(const Wanted& wanted) const {
  std::optional<Place> best;
  for (std::size_t s = 0; s < memory_.segments.size(); ++s) {
    const Segment& segment = memory_.segments[s];
    if (segment.pool != wanted.pool || segment.stream != wanted.stream) continue;
    for (std::size_t b = 0; b < segment.blocks.size(); ++b) {
      const Block& block = segment.blocks[b];
      if (!block.is_free() || !block.holds(wanted.size, wanted.alignment)) continue;
      const Place place{s, b};
      if (!best || memory_.comes_before(place, *best, options_.best_fit_tie)) best = place;
    }
  }
  if (best && !oversize_rules_allow(wanted.size, memory_.block(*best).size, options_)) return {};
  return best;
}

// Cuts the free block at `place` into what precedes the aligned start, what is handed out, and what
// the split rule gives back.
Outcome DeviceModel::hand_out(Place place, const Wanted& wanted) {
  Segment& segment = memory_.segment(place);
  const Block found = memory_.block(place);
  const Address start = found.aligned_start(wanted.alignment);
  const Bytes usable = found.end() - start;
  const bool split = splits_off(wanted.size, usable - wanted.size, options_);
  const Bytes taken = split ? wanted.size : usable;

  std::vector<Block> pieces;
  const auto add_free = [&](Address ptr, Bytes size) {
    pieces.push_back({.ptr = ptr, .size = size, .free_since = searches(segment.pool)});
  };
  if (start != found.ptr) add_free(found.ptr, start - found.ptr);
  pieces.push_back(
      {.ptr = start, .size = taken, .allocated = true, .requested_size = wanted.requested});
  if (split) add_free(start + taken, usable - taken);

  count_hand_out(segment, found, pieces);
  const auto at = segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block);
  segment.blocks.insert(segment.blocks.erase(at), pieces.begin(), pieces.end());
  return {ErrorCode::none, start, {}};
}

// `segment` is as it was before the cut.
void DeviceModel::count_hand_out(const Segment& segment, const Block& found,
                                 const std::vector<Block>& pieces) {
  const PoolKind pool = segment.pool;
  const bool has_prefix = !pieces.front().allocated;
  const Block& taken = has_prefix ? pieces[1] : pieces[0];
  const bool has_remainder = !pieces.back().allocated;

  if (segment.is_split() && has_remainder && !has_prefix) {
    // The remainder is the free block that was there, only smaller.
    ledger_.inactive_split_changed(pool, 0, -signed_count(taken.size));
  } else {
    if (segment.is_split()) ledger_.inactive_split_changed(pool, -1, -signed_count(found.size));
    for (const Block& piece : pieces) {
      if (!piece.allocated) ledger_.inactive_split_changed(pool, 1, signed_count(piece.size));
    }
  }
  ledger_.block_handed_out(pool, taken.size, taken.requested_size);
}

// REQUIRES: the block is handed out no more, and waits for no event.
void DeviceModel::become_free(Place place) {
  Segment& segment = memory_.segment(place);
  const Block freed = memory_.block(place);
  const std::size_t blocks_before = segment.blocks.size();
  ledger_.block_became_free(segment.pool, freed.size, freed.requested_size);
  if (std::find(busy_streams_.begin(), busy_streams_.end(), segment.stream) ==
      busy_streams_.end()) {
    busy_streams_.push_back(segment.stream);
  }
  const Block& merged = merge_with_free_neighbours(place);

  // Each neighbour that was absorbed leaves the split free blocks; what results, if it is still a
  // part of its segment, joins them.
  std::int64_t count = -static_cast<std::int64_t>(blocks_before - segment.blocks.size());
  std::int64_t bytes = -signed_count(merged.size - freed.size);
  if (segment.is_split()) {
    count += 1;
    bytes += signed_count(merged.size);
  }
  ledger_.inactive_split_changed(segment.pool, count, bytes);
}

Block& DeviceModel::merge_with_free_neighbours(Place place) {
  Segment& segment = memory_.segment(place);
  std::vector<Block>& blocks = segment.blocks;
  std::size_t first = place.block;  // The free run around the block: [first, last].
  std::size_t last = place.block;
  if (first > 0 && blocks[first - 1].is_free()) --first;
  if (last + 1 < blocks.size() && blocks[last + 1].is_free()) ++last;

  Block merged{.ptr = blocks[first].ptr, .free_since = searches(segment.pool)};
  for (std::size_t b = first; b <= last; ++b) merged.size += blocks[b].size;
  blocks[first] = std::move(merged);
  blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(first) + 1,
               blocks.begin() + static_cast<std::ptrdiff_t>(last) + 1);
  return blocks[first];
}

void DeviceModel::max_split_size_changed() {
  if (!policy_.recounts_oversize())
    return ledger_.oversize_begins_at(options_.max_split_size_bytes);
  const std::uint64_t from = options_.max_split_size_bytes;
  std::int64_t blocks = 0;
  std::int64_t segments = 0;
  for (const Segment& segment : memory_.segments) {
    if (segment.span.size.count >= from) ++segments;
    for (const Block& block : segment.blocks) {
      if (block.allocated && block.size.count >= from) ++blocks;
    }
  }
  ledger_.oversize_changed(from, blocks, segments);
}

BlockMap DeviceModel::map() const {
  BlockMap map;
  for (const Segment& segment : memory_.segments) {
    SegmentInfo info;
    info.device = device_;
    info.address = segment.span.begin.value;
    info.size_bytes = segment.span.size.count;
    info.stream = segment.stream.value;
    info.is_large = segment.pool == PoolKind::large;
    for (const Block& block : segment.blocks) {
      info.blocks.push_back(
          {block.ptr.value, block.size.count, block.requested_size.count, state_of(block)});
    }
    map.push_back(std::move(info));
  }
  std::sort(map.begin(), map.end(),
            [](const SegmentInfo& a, const SegmentInfo& b) { return a.address < b.address; });
  return map;
}

}  // namespace cairn::model
