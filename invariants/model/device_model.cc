// Searching, splitting, merging: what needs no driver.
#include "invariants/model/device_model.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "invariants/model/sizes.h"

namespace cairn::model {
namespace {

constexpr Bytes ordinary_alignment{512};

std::int64_t signed_count(Bytes size) { return static_cast<std::int64_t>(size.count); }

// Every block starts at a multiple of 512, so only a stronger alignment can move the start.
Address aligned_start(const Block& block, Bytes alignment) {
  if (alignment <= ordinary_alignment) return block.ptr;
  const Bytes over{block.ptr.value % alignment.count};
  return over == Bytes{0} ? block.ptr : block.ptr + (alignment - over);
}

bool holds_aligned(const Block& block, Bytes size, Bytes alignment) {
  const Address start = aligned_start(block, alignment);
  return start <= block.end() && block.end() - start >= size;
}

// Blocks of max_split_size and above are kept for requests of nearly their size.
bool oversize_rules_allow(Bytes wanted, Bytes found, const Options& options) {
  const bool large_request = wanted.count >= options.max_split_size_bytes;
  const bool large_block = found.count >= options.max_split_size_bytes;
  if (!large_request) return !large_block;
  return (found - wanted).count < options.max_non_split_rounding_bytes;
}

}  // namespace

DeviceModel::DeviceModel(const Options& options, DeviceIndex device, Environment& environment)
    : options_(options),
      device_(device),
      environment_(environment),
      ledger_(options.max_split_size_bytes) {}

void DeviceModel::add_initial_segment(const InitialSegment& initial) {
  Segment segment{initial.span, initial.pool, initial.stream, {}};
  Address next = initial.span.begin;
  for (const InitialBlock& block : initial.blocks) {
    const Bytes requested = block.allocated ? block.size : Bytes{0};
    segment.blocks.push_back({next, block.size, block.allocated, requested});
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

Outcome DeviceModel::allocate(const Request& request) {
  const Bytes size = rounded_size(request.size, options_);
  const Wanted wanted{request, size, pool_of(size)};
  if (const auto place = best_fit(wanted)) return hand_out(*place, wanted);

  if (const ErrorCode code = new_segment(wanted); code != ErrorCode::none) return {code, {}};
  const Place fresh{memory_.segments.size() - 1, 0};
  if (!holds_aligned(memory_.block(fresh), size, request.alignment)) {
    return {ErrorCode::unsupported, {}};  // The segment stays, as free memory.
  }
  return hand_out(fresh, wanted);
}

// The first block that fits decides: if the oversize rules forbid it, no other is tried.
std::optional<Place> DeviceModel::best_fit(const Wanted& wanted) const {
  for (const Place place : memory_.free_blocks(wanted.pool, options_.best_fit_tie)) {
    const Block& block = memory_.block(place);
    if (memory_.segment(place).stream != wanted.request.stream) continue;
    if (!holds_aligned(block, wanted.size, wanted.request.alignment)) continue;
    if (!oversize_rules_allow(wanted.size, block.size, options_)) return std::nullopt;
    return place;
  }
  return std::nullopt;
}

// Cuts the free block at `place` into what precedes the aligned start, what is handed out, and what
// the split rule gives back.
Outcome DeviceModel::hand_out(Place place, const Wanted& wanted) {
  Segment& segment = memory_.segment(place);
  const Block found = memory_.block(place);
  const Address start = aligned_start(found, wanted.request.alignment);
  const Bytes usable = found.end() - start;
  const bool split = splits_off(wanted.size, usable - wanted.size, options_);
  const Bytes taken = split ? wanted.size : usable;

  std::vector<Block> pieces;
  if (start != found.ptr) pieces.push_back({found.ptr, start - found.ptr, false, {}});
  pieces.push_back({start, taken, true, wanted.request.size});
  if (split) pieces.push_back({start + taken, usable - taken, false, {}});

  count_hand_out(segment, found, pieces);
  const auto at = segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block);
  segment.blocks.insert(segment.blocks.erase(at), pieces.begin(), pieces.end());
  return {ErrorCode::none, start};
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

void DeviceModel::free(Place place) {
  Segment& segment = memory_.segment(place);
  const Block freed = memory_.block(place);
  ledger_.block_freed(segment.pool, freed.size, freed.requested_size);

  std::size_t first = place.block;  // The free run around the block: [first, last].
  std::size_t last = place.block;
  if (first > 0 && !segment.blocks[first - 1].allocated) --first;
  if (last + 1 < segment.blocks.size() && !segment.blocks[last + 1].allocated) ++last;

  Block merged{segment.blocks[first].ptr, {}, false, {}};
  for (std::size_t b = first; b <= last; ++b) merged.size += segment.blocks[b].size;
  const auto begin = segment.blocks.begin();
  const auto after = segment.blocks.erase(begin + static_cast<std::ptrdiff_t>(first),
                                          begin + static_cast<std::ptrdiff_t>(last) + 1);
  segment.blocks.insert(after, merged);

  // Each neighbour that was absorbed leaves the split free blocks; what results, if it is still a
  // part of its segment, joins them.
  std::int64_t count = -static_cast<std::int64_t>(last - first);
  std::int64_t bytes = -signed_count(merged.size - freed.size);
  if (segment.is_split()) {
    count += 1;
    bytes += signed_count(merged.size);
  }
  ledger_.inactive_split_changed(segment.pool, count, bytes);
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
      const auto state = block.allocated ? BlockState::active_allocated : BlockState::inactive;
      info.blocks.push_back({block.ptr.value, block.size.count, block.requested_size.count, state});
    }
    map.push_back(std::move(info));
  }
  std::sort(map.begin(), map.end(),
            [](const SegmentInfo& a, const SegmentInfo& b) { return a.address < b.address; });
  return map;
}

}  // namespace cairn::model
