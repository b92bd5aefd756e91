// What the hits of some streams touch, and no hits of others: so that threads on different streams
// need not wait for each other. Each stream belongs to one lane, by its number; a block, to the
// lane of the stream that its segment was made for, whatever that stream is renamed to.
//
// Not thread-safe. Different lanes may be used at the same time.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/ids.h"
#include "base/node_pool.h"
#include "base/units.h"
#include "heap/block.h"
#include "heap/block_pool.h"
#include "heap/ledger.h"
#include "heap/live_table.h"

namespace cairn {

inline std::size_t lane_of(StreamId stream) {
  static_assert(lane_count == 16);
  return static_cast<std::size_t>(stream.value * 0x9e3779b97f4a7c15u >> 60);
}

struct alignas(128) Lane {
  // The share of one of the lane's streams in the pool, or null if it has none.
  StreamShare* find_share(BlockPool& pool, StreamId stream) {
    LastShare& last = last_shares[static_cast<std::size_t>(pool.kind)];
    if (last.share == nullptr || last.stream != stream) last = {stream, pool.find_share(stream)};
    return last.share;
  }
  // A share was renamed or dropped.
  void forget_shares() { last_shares = {}; }

  struct LastShare {
    StreamId stream;
    StreamShare* share = nullptr;
  };

  NodePool<Block> slots;  // Of its blocks, live and free.
  LiveTable live;
  LaneLedger* ledger = nullptr;
  std::array<LastShare, 2> last_shares;  // Most requests name the stream of the one before.
};

// In which lane the memory at an address most likely is, or that none ever was there. Thread-safe,
// and read without a lock, so that the lane may be wrong: its live table knows.
class LaneHints {
 public:
  LaneHints() : hints_(std::make_unique<Hint[]>(size)) {}

  std::optional<std::size_t> at(Address address) const {
    const std::uint8_t hint = hints_[place(address)].load(std::memory_order_relaxed);
    if (hint == 0) return std::nullopt;
    return hint - 1U;
  }
  void set(Span span, std::size_t lane) {
    const std::uint64_t first = span.begin.value / granularity;
    const std::uint64_t last = (span.end().value - 1) / granularity;
    const std::uint64_t end = std::min(last + 1, first + size);
    for (std::uint64_t granule = first; granule < end; ++granule) {
      hints_[granule % size].store(static_cast<std::uint8_t>(lane + 1), std::memory_order_relaxed);
    }
  }

 private:
  using Hint = std::atomic<std::uint8_t>;  // One more than the lane; 0: none was here.

  static constexpr std::uint64_t granularity = std::uint64_t{2} << 20;  // As of CUDA's segments.
  static constexpr std::size_t size = std::size_t{1} << 16;             // For 128 GiB in one piece.

  static std::size_t place(Address address) {
    return static_cast<std::size_t>(address.value / granularity % size);
  }

  std::unique_ptr<Hint[]> hints_;
};

}  // namespace cairn
