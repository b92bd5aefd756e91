// What of a Heap may go back to the driver, and its map.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "heap/heap.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

void append_whole_segments(const BlockPool& pool, std::vector<const Segment*>& segments) {
  for (const auto& [stream, share] : pool.shares) {
    const FreeIndex& index = share.index;
    for (const Block* block = index.smallest(); block != nullptr; block = index.after(*block)) {
      if (!block->is_split()) segments.push_back(block->segment);
    }
  }
}

// How many searches of the pool a free block has seen: 32 bits of it, as in PyTorch.
std::int32_t age_of(const Block& block) {
  return static_cast<std::int32_t>(block.pool->searches - block.gc_count_base);
}

// What a pass of the garbage collection looks at, in free order, and the sum of the ages.
struct Candidates {
  std::vector<const Block*> blocks;
  std::int64_t ages = 0;

  void add(const Block& block) {
    blocks.push_back(&block);
    ages += age_of(block);
  }
  // Not below the average, age >= ages / n; so is one block at least.
  bool is_old(const Block& block) const {
    return age_of(block) * static_cast<std::int64_t>(blocks.size()) >= ages;
  }
};

Candidates collectable(const BlockPool& pool) {
  std::vector<const Segment*> segments;
  append_whole_segments(pool, segments);
  Candidates candidates;
  for (const Segment* segment : segments) candidates.add(*segment->first);
  return candidates;
}

BlockInfo describe(const Block& block) {
  BlockInfo info;
  info.address = block.ptr.value;
  info.size_bytes = block.size.count;
  if (block.allocated) info.state = BlockState::active_allocated;
  if (!block.allocated && !block.is_free()) info.state = BlockState::active_pending_free;
  if (info.state != BlockState::inactive) info.requested_size_bytes = block.requested_size.count;
  return info;
}

// One pass: those that are old go to the segments, and the others stay. Gives the bytes taken.
Bytes take_old(Candidates& candidates, std::vector<const Segment*>& segments) {
  const Candidates now = std::exchange(candidates, {});
  Bytes taken{0};
  for (const Block* block : now.blocks) {
    if (now.is_old(*block)) {
      segments.push_back(block->segment);
      taken += block->size;
    } else {
      candidates.add(*block);
    }
  }
  return taken;
}

}  // namespace

std::vector<const Segment*> Heap::releasable() const {
  std::vector<const Segment*> segments;
  append_whole_segments(pool(PoolKind::large), segments);
  append_whole_segments(pool(PoolKind::small), segments);
  return segments;
}

Heap::OversizeRelease Heap::oversize_releasable(const HeapRequest& request) const {
  OversizeRelease release;
  if (!policy_.limits_splits()) return release;
  const Bytes rounded = policy_.round(request.requested);
  const auto* share = pool(SizePolicy::pool_of(rounded)).find_share(request.stream);
  if (share == nullptr) return release;
  const FreeIndex& index = share->index;

  const Bytes wanted = std::max(rounded, policy_.max_split_size());
  const Block* block = index.first_not_below(wanted);
  while (block != nullptr && block->is_split()) block = index.after(*block);
  if (block != nullptr) return {{block->segment}, true};

  Bytes found{0};
  block = index.largest();
  while (block != nullptr && policy_.is_oversize(block->size) && found < wanted) {
    if (!block->is_split()) {
      release.segments.push_back(block->segment);
      found += block->size;
    }
    block = index.before(*block);
  }
  release.is_enough = found >= wanted;
  return release;
}

std::vector<const Segment*> Heap::garbage(Bytes limit) const {
  if (collection_threshold_ == 0.0) return {};
  const auto kept =
      static_cast<std::uint64_t>(collection_threshold_ * static_cast<double>(limit.count));
  if (ledger_.reserved() <= Bytes{kept}) return {};
  const Bytes target = ledger_.reserved() - Bytes{kept};

  Candidates candidates = collectable(pool(PoolKind::large));
  std::vector<const Segment*> segments;
  Bytes released{0};
  while (released < target && !candidates.blocks.empty()) {
    released += take_old(candidates, segments);
  }
  return segments;
}

void Heap::remove_segment(const Segment& segment) noexcept {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(block_links_agree, segment.is_whole() && segment.first->is_free());
  Block& block = *segment.first;
  StreamShare& share = *block.share;
  share.index.erase(block);
  share.lane.slots.give_back(block);
  --share.segments;
  ledger_.segment_removed(segment.pool->kind, segment.span.size);
  segments_.erase(segment.span.begin);
}

void Heap::drop_empty_shares() noexcept {
  CAIRN_AUDIT(*this);
  for (BlockPool& pool : pools_) pool.drop_empty_shares();
  for (Lane& lane : lanes_) lane.forget_shares();
}

bool Heap::can_add(Span span) const {
  const bool wraps = span.end() <= span.begin;
  if (wraps || span.begin == Address{} || !is_aligned(span.begin, block_granularity)) return false;
  const auto above = segments_.lower_bound(span.begin);
  if (above != segments_.end() && above->second.span.overlaps(span)) return false;
  return above == segments_.begin() || !std::prev(above)->second.span.overlaps(span);
}

const Segment* Heap::segment_at(Address address) const {
  auto above = segments_.upper_bound(address);
  if (above == segments_.begin()) return nullptr;
  const Segment& segment = std::prev(above)->second;
  return segment.span.contains(address) ? &segment : nullptr;
}

BlockMap Heap::map() const {
  BlockMap map;
  map.reserve(segments_.size());
  for (const auto& [address, segment] : segments_) {
    SegmentInfo info;
    info.device = device_;
    info.address = address.value;
    info.size_bytes = segment.span.size.count;
    info.stream = segment.stream.value;
    info.is_large = segment.pool->kind == PoolKind::large;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      info.blocks.push_back(describe(*block));
    }
    map.push_back(std::move(info));
  }
  return map;
}

}  // namespace cairn
