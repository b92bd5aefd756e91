// For tests of the heap: a heap that gets the segments it needs at addresses of the test's choice,
// is audited after every step at any level, and can be read as a line of text.
//
// Not thread-safe.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/text_in_test.h"
#include "heap/heap.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"

namespace cairn {

inline constexpr StreamId s0 = legacy_default_stream;
inline constexpr StreamId s1{0x51};
inline constexpr StreamId s2{0x52};

class HeapInTest {
 public:
  explicit HeapInTest(const Options& options = {}) : heap_(2, options) {}

  // From the cache; address 0 where nothing fits.
  Address cached(const HeapRequest& request) {
    const Block* block = heap_.allocate(request);
    audit();
    return block == nullptr ? Address{} : block->ptr;
  }
  // In a new segment; address 0 where it holds no range of that alignment.
  Address fresh(const HeapRequest& request) {
    const Bytes size = heap_.segment_size(request);
    heap_.reserve_segment(request);
    audit();
    const Block* block = heap_.allocate_in_new_segment(request, {next_segment_, size});
    audit();
    next_segment_ = round_up(next_segment_ + size, Bytes{2 << 20});
    return block == nullptr ? Address{} : block->ptr;
  }
  Address allocate(const HeapRequest& request) {
    const Address hit = cached(request);
    return hit == Address{} ? fresh(request) : hit;
  }
  Address allocate(Bytes size, StreamId stream = s0) { return allocate({stream, size}); }

  void free(Address address) {
    Block* block = heap_.find_live(address);
    ASSERT_NE(block, nullptr);
    heap_.free(*block);
    audit();
  }
  bool add_use(Address address, StreamKey stream) {
    const bool added = heap_.add_use(live(address), stream);
    audit();
    return added;
  }
  void remove_use(Address address, StreamKey stream) {
    heap_.remove_use(live(address), stream);
    audit();
  }
  // The uses of a live block: "0/82 1/0", each as device and stream.
  std::string uses(Address address) {
    std::string text;
    for (const StreamKey& use : heap_.uses(live(address))) {
      if (!text.empty()) text += " ";
      text += std::to_string(use.device) + "/" + std::to_string(use.id.value);
    }
    return text;
  }
  // Gives the block, which waits for the events.
  Block& free_after_events(Address address, std::int32_t event_count) {
    Block& block = live(address);
    heap_.free_after_events(block, event_count);
    audit();
    return block;
  }
  void event_done(Block& block) {
    heap_.event_done(block);
    audit();
  }
  void retire_stream(StreamKey stream, StreamId retired) {
    heap_.retire_stream(stream, retired);
    audit();
  }
  void reconfigure(const Options& options) {
    heap_.reconfigure(options);
    audit();
  }
  void drop_empty_shares() {
    heap_.drop_empty_shares();
    audit();
  }
  void remove_segment(Address address) {
    const Segment* segment = heap_.segment_at(address);
    ASSERT_NE(segment, nullptr);
    heap_.remove_segment(*segment);
    audit();
  }

  // By default they lie side by side, upwards.
  void next_segment_at(Address address) { next_segment_ = address; }

  // Blocks of all segments in order of address: "live 1KiB, free 2047KiB | pending 20MiB".
  std::string blocks() const {
    std::string text;
    for (const SegmentInfo& segment : heap_.map()) {
      if (!text.empty()) text += " | ";
      const char* comma = "";
      for (const BlockInfo& block : segment.blocks) {
        text += std::exchange(comma, ", ") + std::string(word_for(block.state)) +
                as_text(Bytes{block.size_bytes});
      }
    }
    return text;
  }
  // The free blocks that are part of a segment: "2: 3KiB".
  std::string inactive_split(PoolKind kind) const {
    const DeviceStats stats = heap_.ledger().read();
    const auto entry = kind == PoolKind::small ? &StatArray::small_pool : &StatArray::large_pool;
    const auto bytes = static_cast<std::uint64_t>((stats.inactive_split_bytes.*entry).current);
    return std::to_string((stats.inactive_split.*entry).current) + ": " + as_text(Bytes{bytes});
  }
  DeviceStats stats() const { return heap_.ledger().read(); }

  Heap& operator*() { return heap_; }
  Heap* operator->() { return &heap_; }

 private:
  static const char* word_for(BlockState state) {
    switch (state) {
      case BlockState::active_allocated:
        return "live ";
      case BlockState::active_pending_free:
        return "pending ";
      case BlockState::inactive:
        return "free ";
    }
    return "";
  }
  Block& live(Address address) {
    Block* block = heap_.find_live(address);
    if (block == nullptr) throw std::out_of_range("no live block is there");
    return *block;
  }
  void audit() const {
    invariants::Recorder recorder;
    invariants::check(heap_, invariants::Cost::heap);
    for (const invariants::Violation& violation : recorder.violations()) {
      ADD_FAILURE() << to_string(violation);
    }
  }

  Heap heap_;
  Address next_segment_{0x7e0000000000};
};

}  // namespace cairn
