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

}  // namespace

Heap::Heap(DeviceIndex device, const Options& options)
    : device_(device),
      policy_(options),
      pools_{BlockPool{PoolKind::small, {options.best_fit_tie}},
             BlockPool{PoolKind::large, {options.best_fit_tie}}},
      ledger_(policy_.max_split_size()),
      collection_threshold_(options.garbage_collection_threshold) {}

const Block* Heap::search(const HeapRequest& request, bool counts) {
  CAIRN_AUDIT(*this);
  const Bytes rounded = policy_.round(request.requested);
  slots_.reserve(2);
  live_.reserve(1);
  BlockPool& pool = pool_of(rounded);
  if (counts) ++pool.searches;
  StreamShare* share = pool.find_share(request.stream);
  if (share == nullptr) return nullptr;
  Block* block = find_fit(share->index, request, rounded);
  if (block == nullptr) return nullptr;
  share->index.erase(*block);
  return &hand_out(*block, request, rounded);
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
  pool.make_share(stream);
  slots_.reserve(blocks);
  live_.reserve(blocks);
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
    Block& block = piece.size < rest.size ? split_lower(rest, piece.size, slots_) : rest;
    if (piece.allocated) {
      mark_allocated(block, piece.size);
    } else {
      insert_free(block);
      const bool split = piece.size < layout.span.size;
      if (split) ledger_.inactive_split_changed(pool.kind, 1, signed_count(piece.size));
    }
  }
}

// The new segment is one block, which is in no index yet.
Segment& Heap::add_segment(Span span, BlockPool& pool, StreamId stream) {
  CAIRN_HOLDS(block_size_granular, is_multiple(span.size, block_granularity));
  CAIRN_HOLDS(block_aligned, is_aligned(span.begin, block_granularity));
  StreamShare& share = *pool.find_share(stream);
  ++share.segments;
  spare_segment_.key() = span.begin;
  Segment& segment = segments_.insert(std::move(spare_segment_)).position->second;
  segment = {span, stream, &pool, next_registration_counter_++, nullptr};

  Block& block = slots_.make();
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

// Cuts off and frees what the request does not need, if the policy splits here.
[[gnu::always_inline]] inline Block& Heap::cut_to_size(Block& block, Bytes size, bool counted) {
  const PoolKind kind = block.pool->kind;
  const Bytes remainder = block.size - size;
  if (!policy_.splits(kind, size, remainder)) {
    if (counted) ledger_.inactive_split_changed(kind, -1, -signed_count(block.size));
    return block;
  }
  Block& lower = split_lower(block, size, slots_);
  insert_free(block);
  if (counted) {
    ledger_.inactive_split_changed(kind, 0, -signed_count(size));
  } else {
    ledger_.inactive_split_changed(kind, 1, signed_count(remainder));
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
  if (counted) ledger_.inactive_split_changed(kind, -1, -signed_count(block.size));
  insert_free(split_lower(block, prefix, slots_));
  ledger_.inactive_split_changed(kind, 1, signed_count(prefix));
}

[[gnu::always_inline]] inline void Heap::mark_allocated(Block& block, Bytes requested) {
  block.allocated = true;
  block.requested_size = requested;
  live_.insert(block);
  ledger_.handed_out(block.pool->kind, block.size, requested);
}

void Heap::insert_free(Block& block) {
  block.gc_count_base = block.pool->searches;
  block.share->index.insert(block);
}

// Nothing uses the block any more: it merges with its free neighbours.
[[gnu::always_inline]] inline void Heap::became_free(Block& block) noexcept {
  FreeIndex& index = block.share->index;
  std::int64_t split_blocks = 0;
  std::int64_t split_bytes = 0;
  if (Block* prev = block.prev; prev != nullptr && prev->is_free()) {
    index.erase(*prev);
    split_blocks -= 1;
    split_bytes -= signed_count(prev->size);
    absorb_prev(block, slots_);
  }
  if (Block* next = block.next; next != nullptr && next->is_free()) {
    index.erase(*next);
    split_blocks -= 1;
    split_bytes -= signed_count(next->size);
    absorb_next(block, slots_);
  }
  if (block.is_split()) {
    split_blocks += 1;
    split_bytes += signed_count(block.size);
  }
  ledger_.inactive_split_changed(block.pool->kind, split_blocks, split_bytes);
  block.share->may_be_in_use = true;
  insert_free(block);
}

void Heap::free(Block& block) noexcept {
  CAIRN_AUDIT(*this);
  // The neighbours are wanted soon, and seldom in the cache.
  __builtin_prefetch(block.prev);
  __builtin_prefetch(block.next);
  live_.erase(block);
  block.allocated = false;
  if (block.cold != nullptr) drop_cold_fields(block);
  ledger_.freed_at_once(block.pool->kind, block.size, block.requested_size);
  became_free(block);
}

void Heap::event_done(Block& block) noexcept {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(event_count_not_negative, block.event_count > 0);
  if (--block.event_count > 0) return;
  ledger_.became_free(block.pool->kind, block.size, block.requested_size);
  became_free(block);
}

void Heap::reconfigure(const Options& options) {
  CAIRN_AUDIT(*this);
  policy_ = SizePolicy(options);
  collection_threshold_ = options.garbage_collection_threshold;
  set_limited(is_limited_);
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
