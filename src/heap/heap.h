// The bookkeeping of one device's memory: which ranges are handed out, which are free, and which
// free block serves a request. Pure: it knows no driver, lock or clock. Memory arrives as a Span
// that somebody got from a driver and leaves as one; every decision is that of PyTorch's native
// policy but for the deviations in README.md.
//
// Between calls all of B, S, P, H, U1 to U6 and L of the invariant catalogue hold.
//
// Not thread-safe, but that hit() and free_unused() of different lanes may run at the same time, as
// long as nothing else does; lane_hints() may be read at any time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/block_map.h"
#include "cairn/options.h"
#include "heap/block.h"
#include "heap/block_pool.h"
#include "heap/deviations.h"
#include "heap/lane.h"
#include "heap/ledger.h"
#include "heap/segment.h"
#include "heap/size_policy.h"

namespace cairn {

struct HeapRequest {
  StreamId stream;
  Bytes requested;                      // REQUIRES: 0 < requested < request_limit.
  Bytes alignment = block_granularity;  // REQUIRES: a power of two from 512 to 2 MiB.
};

// A segment as it is to be: what tiles it, in order of address.
struct BlockLayout {
  Bytes size;
  bool allocated = false;  // Then `size` is also what was requested.
};
struct SegmentLayout {
  Span span;
  PoolKind pool = PoolKind::small;
  StreamId stream;
  std::vector<BlockLayout> blocks;
};

struct Merger;

class Heap {
 public:
  Heap(DeviceIndex device, const Options& options);
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;

  // Hands out the best fitting free block; null where none fits. Throws std::bad_alloc, and then
  // nothing has changed. The first search of a request counts for the ages of free blocks, if
  // searches count; another one, after something became free, is search_again().
  const Block* allocate(const HeapRequest& request) { return search(request, counts_searches_); }
  const Block* search_again(const HeapRequest& request) { return search(request, false); }

  // What most calls are, within the stream's lane: search_again(), and find_live() and free() of a
  // block without uses. Null, or false, where there is more to it, such as a peak of a statistic
  // that only the whole heap can tell: nothing has changed then. REQUIRES: the caller has the lane;
  // of hit(), as of a HeapRequest, and: searches do not count, no block waits for events.
  const Block* hit(StreamId stream, Bytes requested, Bytes alignment = block_granularity);
  bool free_unused(std::size_t lane_index, Address address) noexcept;
  // In which lane the block at an address is, most likely.
  const LaneHints& lane_hints() const { return lane_hints_; }

  // What to ask of the driver when allocate() had nothing.
  Bytes segment_size(const HeapRequest& request) const;
  // Room for one more segment of the request's stream, so that the driver is not asked in vain.
  // Throws std::bad_alloc, and then nothing has changed.
  void reserve_segment(const HeapRequest& request);
  // Adds memory that the driver gave for the request and hands out from it. Null where it holds no
  // range of the request's alignment; the memory stays, free. REQUIRES: reserve_segment() since
  // anything else changed the heap or its settings; the span overlaps no segment.
  const Block* allocate_in_new_segment(const HeapRequest& request, Span span);
  // Adds memory with blocks in it. Throws std::bad_alloc, and then nothing has changed.
  // REQUIRES: the blocks tile the span, no two neighbours are both free, it overlaps no segment.
  void adopt_segment(const SegmentLayout& layout);

  // The live block that starts here, or null.
  Block* find_live(Address address) {
    return const_cast<Block*>(std::as_const(*this).find_live(address));
  }
  const Block* find_live(Address address) const;
  std::size_t live_count() const;
  // Takes back a block, whatever its uses, and merges it with its free neighbours; one of these may
  // absorb its slot, so `block` must not be used after. REQUIRES: it is live.
  void free(Block& block) noexcept;

  // ---- uses by other streams, and the events that wait for them ----

  // The streams that use a live block beside its own, in order, each once.
  std::span<const StreamKey> uses(const Block& block) const;
  // Lists a use; false where it is listed already, or is the block's own stream (in PyTorch: one
  // of the same handle, on any device). Throws std::bad_alloc, and then nothing has changed.
  // REQUIRES: the block is live.
  bool add_use(Block& block, StreamKey stream);
  // REQUIRES: it is listed.
  void remove_use(Block& block, StreamKey stream) noexcept;
  // Takes back a block that becomes free only when so many events are done; its uses are dropped.
  // REQUIRES: it is live, event_count > 0.
  void free_after_events(Block& block, std::int32_t event_count) noexcept;
  // One of the events is done. After the last one the block is free, and must not be used after.
  // REQUIRES: the block waits for an event.
  void event_done(Block& block) noexcept;

  // Whether the stream has a segment here, or a live block is used by it.
  bool knows(StreamKey stream) const;
  // Renames a stream: its segments, and the uses by it. REQUIRES: `retired` was never named here.
  void retire_stream(StreamKey stream, StreamId retired) noexcept;

  // Whether a block of the stream became free since mark_idle(): work on it may still use that
  // memory.
  bool may_be_in_use(StreamId stream) const;
  void mark_idle(StreamId stream) noexcept;  // The stream's work was waited for.

  // ---- short memory ----

  // Whether a limit is set. Searches count for ages only where there is something to collect: under
  // a limit, with a threshold above 0 (PyTorch).
  void set_limited(bool limited) {
    is_limited_ = limited;
    counts_searches_ = is_limited_ && collection_threshold_ > 0.0;
  }
  bool counts_searches() const { return counts_searches_; }
  // Which segments to give back, in order, since more than the threshold's part of `limit` is held
  // (PyTorch: garbage_collect_cached_blocks). None where the threshold is 0.
  std::vector<const Segment*> garbage(Bytes limit) const;
  // Changes what of `options` the heap decides by; what counts as oversize is counted anew (not in
  // PyTorch).
  void reconfigure(const Options& options);

  // Segments that nobody uses, in the order in which they go back to the driver: large pool, small
  // pool, each by stream, size, age and address.
  std::vector<const Segment*> releasable() const;
  // Which of those of max_split_size and above to give back so that the request finds room, in
  // order, and whether they add up to enough. Empty where max_split_size is unlimited.
  struct OversizeRelease {
    std::vector<const Segment*> segments;
    bool is_enough = false;
  };
  OversizeRelease oversize_releasable(const HeapRequest& request) const;
  // Forgets a segment. REQUIRES: it is one free block.
  void remove_segment(const Segment& segment) noexcept;

  // Forgets the streams that have no segment any more.
  void drop_empty_shares() noexcept;

  // Whether memory that a driver gave can be one: not null, granular, disjoint from all others.
  bool can_add(Span span) const;

  BlockMap map() const;
  const Segment* segment_at(Address address) const;  // The one that holds this address, or null.

  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  DeviceIndex device() const { return device_; }
  const std::map<Address, Segment>& segments() const { return segments_; }
  const BlockPool& pool(PoolKind kind) const { return pools_[static_cast<std::size_t>(kind)]; }
  const std::array<Lane, lane_count>& lanes() const { return lanes_; }
  const SizePolicy& policy() const { return policy_; }
  const Deviations& deviations() const { return deviations_; }
  const std::map<Address, ColdBlockFields>& cold_fields() const { return cold_fields_; }
  std::uint64_t next_registration_counter() const { return next_registration_counter_; }

 private:
  BlockPool& pool_of(Bytes rounded) {
    return pools_[static_cast<std::size_t>(SizePolicy::pool_of(rounded))];
  }
  const Block* search(const HeapRequest& request, bool counts);
  bool is_own_stream(const Block& block, StreamKey stream) const;
  Lane& lane_of_stream(StreamId stream) { return lanes_[lane_of(stream)]; }
  Block* find_fit(const FreeIndex& index, const HeapRequest& request, Bytes rounded) const;
  void reserve(BlockPool& pool, StreamId stream, std::size_t blocks);
  Segment& add_segment(Span span, BlockPool& pool, StreamId stream);
  const Block& hand_out(Block& block, const HeapRequest& request, Bytes rounded);
  void free_prefix(Block& block, Bytes prefix, bool counted);
  Block& cut(Block& block, Bytes size, Lane& lane);
  void make_live(Block& block, Bytes requested, Lane& lane);
  void merge(Block& block, const Merger& merger) noexcept;
  Block& cut_to_size(Block& block, Bytes size, bool counted);
  void mark_allocated(Block& block, Bytes requested);
  void insert_free(Block& block);
  void recount_oversize();
  void became_free(Block& block) noexcept;
  void drop_cold_fields(Block& block) noexcept;
  void rename_segments(StreamId from, StreamId to) noexcept;

  const DeviceIndex device_;
  SizePolicy policy_;
  std::map<Address, Segment> segments_;
  std::map<Address, Segment>::node_type spare_segment_;  // For the next one (see reserve_segment).
  std::array<BlockPool, 2> pools_;
  Ledger ledger_;
  std::array<Lane, lane_count> lanes_;
  LaneHints lane_hints_;
  std::uint64_t next_registration_counter_ = 1;
  bool is_limited_ = false;
  bool counts_searches_ = false;  // Derived from both, for the hit path.
  double collection_threshold_;   // The part of the limit above which garbage is collected.
  std::map<Address, ColdBlockFields> cold_fields_;  // Of the blocks that have any.
  const Deviations deviations_;
};

}  // namespace cairn
