#include "heap/heap.h"

#include <iterator>
#include <utility>

#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

// What a hit always runs is inlined by force, as g++ leaves a call where there is a second caller;
// the instructions of a hit are counted (bench/count_instructions).

// What lies below the first aligned address; it may be more than the block.
Bytes prefix_of(const Block& block, Bytes alignment) {
  return Bytes{(0 - block.ptr.value) & (alignment.count - 1)};
}

// How the free blocks that are part of a larger segment change when a free block, which is in the
// index, is handed out up to `size`.
[[gnu::always_inline]] inline SplitChange split_change_of_cut(const Block& block, Bytes size) {
  const Bytes remainder = block.size - size;
  const bool leaves_one = remainder != Bytes{0};
  if (block.is_split()) return {leaves_one ? 0 : -1, -signed_count(size)};
  return {leaves_one ? 1 : 0, signed_count(remainder)};
}

}  // namespace

// What a block merges with when it becomes free.
struct Merger {
  explicit Merger(const Block& block)
      : prev(block.prev != nullptr && block.prev->is_free() ? block.prev : nullptr),
        next(block.next != nullptr && block.next->is_free() ? block.next : nullptr),
        is_split((prev != nullptr ? prev : &block)->prev != nullptr ||
                 (next != nullptr ? next : &block)->next != nullptr) {}

  // How the free blocks that are part of a larger segment change.
  SplitChange split_change(const Block& block) const {
    SplitChange change;
    if (prev != nullptr) change += {-1, -signed_count(prev->size)};
    if (next != nullptr) change += {-1, -signed_count(next->size)};
    if (is_split) change += {1, signed_count(block.size) - change.bytes};
    return change;
  }

  Block* const prev;  // Null where there is none, or it is not free.
  Block* const next;
  const bool is_split;  // Whether the merged block is part of a larger segment.
};

Heap::Heap(DeviceIndex device, const Options& options)
    : device_(device),
      policy_(options),
      pools_{BlockPool{PoolKind::small, {options.best_fit_tie}},
             BlockPool{PoolKind::large, {options.best_fit_tie}}},
      ledger_(policy_.max_split_size()),
      collection_threshold_(options.garbage_collection_threshold),
      deviations_(options) {
  for (std::size_t lane = 0; lane < lane_count; ++lane) lanes_[lane].ledger = &ledger_.lane(lane);
}

const Block* Heap::search(const HeapRequest& request, bool counts) {
  CAIRN_AUDIT(*this);
  const Bytes rounded = policy_.round(request.requested);
  Lane& lane = lane_of_stream(request.stream);
  lane.slots.reserve(2);
  lane.live.reserve(1);
  BlockPool& pool = pool_of(rounded);
  if (counts) ++pool.searches;
  StreamShare* share = lane.find_share(pool, request.stream);
  if (share == nullptr) return nullptr;
  Block* block = find_fit(share->index, request, rounded);
  if (block == nullptr) return nullptr;
  share->index.erase(*block);
  return &hand_out(*block, request, rounded);
}

const Block* Heap::hit(StreamId stream, Bytes requested, Bytes alignment) {
  const Bytes rounded = policy_.round(requested);
  Lane& lane = lane_of_stream(stream);
  lane.slots.reserve(1);
  lane.live.reserve(1);
  BlockPool& pool = pool_of(rounded);
  StreamShare* share = lane.find_share(pool, stream);
  if (share == nullptr) return nullptr;
  Block* block = share->index.first_not_below(rounded);
  if (block == nullptr || !policy_.may_serve(rounded, block->size)) return nullptr;
  if (prefix_of(*block, alignment) != Bytes{0}) return nullptr;
  const bool splits = policy_.splits(pool.kind, rounded, block->size - rounded);
  const Bytes size = splits ? rounded : block->size;
  const SplitChange change = split_change_of_cut(*block, size);
  if (!lane.ledger->try_hand_out(pool.kind, {size, requested, change})) return nullptr;
  share->index.erase(*block);
  Block& fitting = splits ? cut(*block, size, lane) : *block;
  make_live(fitting, requested, lane);
  return &fitting;
}

const Block* Heap::find_live(Address address) const {
  const auto lane = lane_hints_.at(address);
  if (!lane) return nullptr;
  const Block* found = lanes_[*lane].live.find(address);
  if (found != nullptr) return found;
  const Segment* segment = segment_at(address);
  return segment == nullptr ? nullptr : segment->first->share->lane.live.find(address);
}

std::size_t Heap::live_count() const {
  std::size_t count = 0;
  for (const Lane& lane : lanes_) count += lane.live.size();
  return count;
}

// The first block, in best-fit order, that has room for the request; null also where the oversize
// rules forbid that one, since no later one is tried.
Block* Heap::find_fit(const FreeIndex& index, const HeapRequest& request, Bytes rounded) const {
  Block* block = index.first_not_below(rounded);
  while (block != nullptr && prefix_of(*block, request.alignment) + rounded > block->size) {
    block = index.after(*block);
  }
  if (block == nullptr || !policy_.may_serve(rounded, block->size)) return nullptr;
  return block;
}

Bytes Heap::segment_size(const HeapRequest& request) const {
  return policy_.segment_size(policy_.round(request.requested));
}

void Heap::reserve_segment(const HeapRequest& request) {
  reserve(pool_of(policy_.round(request.requested)), request.stream, 3);
}

void Heap::reserve(BlockPool& pool, StreamId stream, std::size_t blocks) {
  Lane& lane = lane_of_stream(stream);
  pool.make_share(stream, lane);
  lane.slots.reserve(blocks);
  lane.live.reserve(blocks);
  if (!spare_segment_.empty()) return;
  std::map<Address, Segment> one;
  one.try_emplace(Address{});
  spare_segment_ = one.extract(one.begin());
}

const Block* Heap::allocate_in_new_segment(const HeapRequest& request, Span span) {
  CAIRN_AUDIT(*this);
  const Bytes rounded = policy_.round(request.requested);
  Block& block = *add_segment(span, pool_of(rounded), request.stream).first;
  if (prefix_of(block, request.alignment) + rounded > block.size) {
    insert_free(block);
    return nullptr;
  }
  return &hand_out(block, request, rounded);
}

void Heap::adopt_segment(const SegmentLayout& layout) {
  CAIRN_AUDIT(*this);
  BlockPool& pool = pools_[static_cast<std::size_t>(layout.pool)];
  reserve(pool, layout.stream, layout.blocks.size());
  Block& rest = *add_segment(layout.span, pool, layout.stream).first;
  for (const BlockLayout& piece : layout.blocks) {
    Lane& lane = rest.share->lane;
    Block& block = piece.size < rest.size ? split_lower(rest, piece.size, lane.slots) : rest;
    if (piece.allocated) {
      mark_allocated(block, piece.size);
    } else {
      insert_free(block);
      const bool split = piece.size < layout.span.size;
      if (split) lane.ledger->inactive_split_changed(pool.kind, 1, signed_count(piece.size));
    }
  }
}

// The new segment is one block, which is in no index yet.
Segment& Heap::add_segment(Span span, BlockPool& pool, StreamId stream) {
  CAIRN_HOLDS(block_size_granular, is_multiple(span.size, block_granularity));
  CAIRN_HOLDS(block_aligned, is_aligned(span.begin, block_granularity));
  StreamShare& share = *pool.find_share(stream);
  ++share.segments;
  lane_hints_.set(span, lane_of(stream));
  spare_segment_.key() = span.begin;
  Segment& segment = segments_.insert(std::move(spare_segment_)).position->second;
  segment = {span, stream, &pool, next_registration_counter_++, nullptr};

  Block& block = share.lane.slots.make();
  block.ptr = span.begin;
  block.size = span.size;
  block.segment = &segment;
  block.pool = &pool;
  block.stream = stream;
  block.share = &share;
  block.registration_counter = segment.registration_counter;
  block.device = static_cast<std::int16_t>(device_);
  segment.first = &block;
  ledger_.segment_added(pool.kind, span.size);
  return segment;
}

// Cuts off and indexes what lies above `size`.
[[gnu::always_inline]] inline Block& Heap::cut(Block& block, Bytes size, Lane& lane) {
  Block& lower = split_lower(block, size, lane.slots);
  insert_free(block);
  return lower;
}

// Cuts off and frees what the request does not need, if the policy splits here.
[[gnu::always_inline]] inline Block& Heap::cut_to_size(Block& block, Bytes size, bool counted) {
  const PoolKind kind = block.pool->kind;
  const Bytes remainder = block.size - size;
  Lane& lane = block.share->lane;
  if (!policy_.splits(kind, size, remainder)) {
    if (counted) lane.ledger->inactive_split_changed(kind, -1, -signed_count(block.size));
    return block;
  }
  Block& lower = cut(block, size, lane);
  if (counted) {
    lane.ledger->inactive_split_changed(kind, 0, -signed_count(size));
  } else {
    lane.ledger->inactive_split_changed(kind, 1, signed_count(remainder));
  }
  return lower;
}

// REQUIRES: `block` is in no index and has room; two slots and an entry of the live table are
// reserved.
[[gnu::always_inline]] inline const Block& Heap::hand_out(Block& block, const HeapRequest& request,
                                                          Bytes rounded) {
  const Bytes prefix = prefix_of(block, request.alignment);
  bool counted = block.is_split();  // Among the inactive split blocks.
  if (prefix != Bytes{0}) {
    free_prefix(block, prefix, counted);
    counted = false;
  }
  Block& fitting = cut_to_size(block, rounded, counted);
  mark_allocated(fitting, request.requested);
  return fitting;
}

// Cuts off and frees what lies below an aligned range.
void Heap::free_prefix(Block& block, Bytes prefix, bool counted) {
  const PoolKind kind = block.pool->kind;
  Lane& lane = block.share->lane;
  if (counted) lane.ledger->inactive_split_changed(kind, -1, -signed_count(block.size));
  insert_free(split_lower(block, prefix, lane.slots));
  lane.ledger->inactive_split_changed(kind, 1, signed_count(prefix));
}

[[gnu::always_inline]] inline void Heap::make_live(Block& block, Bytes requested, Lane& lane) {
  block.allocated = true;
  block.requested_size = requested;
  lane.live.insert(block);
}

[[gnu::always_inline]] inline void Heap::mark_allocated(Block& block, Bytes requested) {
  Lane& lane = block.share->lane;
  make_live(block, requested, lane);
  lane.ledger->handed_out(block.pool->kind, block.size, requested);
}

void Heap::insert_free(Block& block) {
  block.gc_count_base = block.pool->searches;
  block.share->index.insert(block);
}

// The block is free, and so in the index, together with its free neighbours.
[[gnu::always_inline]] inline void Heap::merge(Block& block, const Merger& merger) noexcept {
  StreamShare& share = *block.share;
  if (merger.prev != nullptr) {
    share.index.erase(*merger.prev);
    absorb_prev(block, share.lane.slots);
  }
  if (merger.next != nullptr) {
    share.index.erase(*merger.next);
    absorb_next(block, share.lane.slots);
  }
  share.may_be_in_use = true;
  insert_free(block);
}

// Nothing uses the block any more.
void Heap::became_free(Block& block) noexcept {
  const Merger merger(block);
  const SplitChange change = merger.split_change(block);
  block.share->lane.ledger->inactive_split_changed(block.pool->kind, change.blocks, change.bytes);
  merge(block, merger);
}

void Heap::free(Block& block) noexcept {
  CAIRN_AUDIT(*this);
  Lane& lane = block.share->lane;
  lane.live.erase(block);
  block.allocated = false;
  if (block.cold != nullptr) drop_cold_fields(block);
  lane.ledger->freed_at_once(block.pool->kind, block.size, block.requested_size);
  became_free(block);
}

bool Heap::free_unused(std::size_t lane_index, Address address) noexcept {
  Lane& lane = lanes_[lane_index];
  const std::size_t slot = lane.live.slot_of(address);
  Block* const found = lane.live.block_in(slot);
  if (found == nullptr) return false;
  Block& block = *found;
  if (block.cold != nullptr) return false;
  const Merger merger(block);
  const HandedOut handed_out{block.size, block.requested_size, merger.split_change(block)};
  if (!lane.ledger->try_free(block.pool->kind, handed_out)) return false;
  lane.live.erase_slot(slot);
  block.allocated = false;
  merge(block, merger);
  return true;
}

void Heap::event_done(Block& block) noexcept {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(event_count_not_negative, block.event_count > 0);
  if (--block.event_count > 0) return;
  block.share->lane.ledger->became_free(block.pool->kind, block.size, block.requested_size);
  became_free(block);
}

void Heap::reconfigure(const Options& options) {
  CAIRN_AUDIT(*this);
  policy_ = SizePolicy(options);
  collection_threshold_ = options.garbage_collection_threshold;
  set_limited(is_limited_);
  if (deviations_.recounts_oversize) {
    recount_oversize();
  } else {
    ledger_.max_split_size_changed_unseen(policy_.max_split_size());
  }
}

void Heap::recount_oversize() {
  std::int64_t allocations = 0;
  std::int64_t segments = 0;
  for (const auto& [address, segment] : segments_) {
    if (policy_.is_oversize(segment.span.size)) ++segments;
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (block->allocated && policy_.is_oversize(block->size)) ++allocations;
    }
  }
  ledger_.max_split_size_changed(policy_.max_split_size(), allocations, segments);
}

}  // namespace cairn
