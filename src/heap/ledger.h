// The statistics of one heap. Each fact is posted once, where it happens; numbers are sums of what
// was posted, and equal a recount of the blocks at any time (L2 to L7). Meanings are PyTorch's.
//
// A lane posts its hits without a look at the others, and yet all peaks are exact: each quantity of
// a lane has a ceiling, and the ceilings of all lanes add up to no more than the peak (L9), so that
// below them no peak is passed. What passes a ceiling is posted with the whole ledger at hand: it
// is a peak or it is not, and what is left below the peak is shared out anew.
//
// Near a peak, or where each lane has few blocks, many a hit passes a ceiling.
//
// Not thread-safe, but that different lanes may call try_hand_out() and try_free() at the same
// time.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/stats.h"

namespace cairn {

// Statistics are signed, since a change of one may be negative.
inline std::int64_t signed_count(Bytes size) { return static_cast<std::int64_t>(size.count); }

// The highest values that a quantity of both pools, and their sum, were seen at.
struct PooledPeak {
  std::array<std::int64_t, 2> pools{};
  std::int64_t all = 0;

  void note(std::int64_t small, std::int64_t large) {
    pools = {std::max(pools[0], small), std::max(pools[1], large)};
    all = std::max(all, small + large);
  }
};

// A lane's part of a quantity of both pools. What is there is the ceiling less the room, which is
// what a hit looks at and changes.
struct StatPart {
  std::array<std::int64_t, 2> added{};
  PooledPeak room;  // How much more passes no ceiling; below 0 where one was passed.
  std::array<std::int64_t, 2> ceiling{};  // Of each pool.

  std::int64_t current(std::size_t pool) const { return ceiling[pool] - room.pools[pool]; }
  bool has_room(PoolKind pool, std::int64_t n) const {
    return n <= room.pools[static_cast<std::size_t>(pool)] && n <= room.all;
  }
  void move(PoolKind pool, std::int64_t n) {
    room.pools[static_cast<std::size_t>(pool)] -= n;
    room.all -= n;
  }
  void add(PoolKind pool, std::int64_t n) {
    move(pool, n);
    added[static_cast<std::size_t>(pool)] += n;
  }
  void change(PoolKind pool, std::int64_t n) {
    move(pool, n);
    added[static_cast<std::size_t>(pool)] += n > 0 ? n : 0;
  }
  // From now on so much more passes no ceiling.
  void set_room(const PooledPeak& more) {
    ceiling = {current(0) + more.pools[0], current(1) + more.pools[1]};
    room = more;
  }
};

// A quantity of both pools. What was freed is derived: all that was added less what is there.
class PooledStat {
 public:
  void add(PoolKind pool, std::int64_t n) {
    const auto p = static_cast<std::size_t>(pool);
    current_[p] += n;
    added_[p] += n;
    if (current_[p] > peak_.pools[p]) peak_.pools[p] = current_[p];
    const std::int64_t all = current_[0] + current_[1];
    if (all > peak_.all) peak_.all = all;
  }
  void subtract(PoolKind pool, std::int64_t n) { current_[static_cast<std::size_t>(pool)] -= n; }
  std::int64_t current(PoolKind pool) const { return current_[static_cast<std::size_t>(pool)]; }
  std::int64_t all() const { return current_[0] + current_[1]; }
  // What is there is the sum of the parts that follow.
  void clear() { current_ = added_ = {}; }
  void include(const StatPart& part) {
    for (std::size_t pool = 0; pool < current_.size(); ++pool) {
      current_[pool] += part.current(pool);
      added_[pool] += part.added[pool];
    }
  }
  void note_peak() { peak_.note(current_[0], current_[1]); }
  // How much more passes no peak.
  PooledPeak room() const {
    return {{peak_.pools[0] - current_[0], peak_.pools[1] - current_[1]}, peak_.all - all()};
  }
  void reset_peak();
  void reset_accumulated();
  StatArray read() const;
  // As if so much more were there, of which a peak was noted, and were at the last reset.
  StatArray read_with(const std::array<std::int64_t, 2>& more,
                      const std::array<std::int64_t, 2>& more_at_reset,
                      const PooledPeak& peak) const;

 private:
  Stat read(std::size_t pool) const;

  std::array<std::int64_t, 2> current_{};
  std::array<std::int64_t, 2> added_{};
  PooledPeak peak_;
  std::array<std::int64_t, 2> added_at_reset_{};
  std::array<std::int64_t, 2> freed_at_reset_{};
};

// How the free blocks that are part of a larger segment change, and their bytes.
struct SplitChange {
  std::int64_t blocks = 0;
  std::int64_t bytes = 0;

  SplitChange& operator+=(const SplitChange& more) {
    blocks += more.blocks;
    bytes += more.bytes;
    return *this;
  }
};

// A block that is handed out, or freed, and what that does to its neighbourhood.
struct HandedOut {
  Bytes size;
  Bytes requested;
  SplitChange split;
};

inline constexpr std::size_t lane_count = 16;

// What hits change, and lanes therefore have parts of.
enum class Quantity : std::uint8_t {
  allocation,
  allocated_bytes,
  requested_bytes,
  inactive_split,
  inactive_split_bytes
};
inline constexpr std::size_t quantity_count = 5;

class Ledger;

// Where facts of a lane's blocks are posted; sizes are the block's, but for `requested`.
class alignas(128) LaneLedger {
 public:
  LaneLedger(Ledger& whole, std::size_t lane) : whole_(whole), lane_(lane) {}
  LaneLedger(const LaneLedger&) = delete;
  LaneLedger& operator=(const LaneLedger&) = delete;

  // Post a hit, and a free of a block that nobody waits for, while other lanes may post. False
  // where they cannot, since a ceiling or a count of the whole would change: nothing is posted
  // then. REQUIRES of a hit: nothing is pending.
  bool try_hand_out(PoolKind pool, const HandedOut& block);
  bool try_free(PoolKind pool, const HandedOut& block);

  void handed_out(PoolKind pool, Bytes size, Bytes requested);
  // The caller gave the block back. From here to became_free() it is pending: active, but not
  // allocated.
  void freed(PoolKind pool, Bytes size);
  // Nothing uses the block any more.
  void became_free(PoolKind pool, Bytes size, Bytes requested);
  // Both at once: a block that nobody waits for.
  void freed_at_once(PoolKind pool, Bytes size, Bytes requested);
  // The free blocks that are part of a larger segment changed by so many, and so many bytes.
  void inactive_split_changed(PoolKind pool, std::int64_t blocks, std::int64_t bytes) {
    change(Quantity::inactive_split, pool, blocks);
    change(Quantity::inactive_split_bytes, pool, bytes);
  }

  const StatPart& part(Quantity quantity) const {
    return parts_[static_cast<std::size_t>(quantity)];
  }

 private:
  friend class Ledger;

  StatPart& part(Quantity quantity) { return parts_[static_cast<std::size_t>(quantity)]; }
  bool try_change_split(PoolKind pool, const SplitChange& change);
  void add(Quantity quantity, PoolKind pool, std::int64_t n);
  void subtract(Quantity quantity, PoolKind pool, std::int64_t n) { part(quantity).move(pool, -n); }
  void change(Quantity quantity, PoolKind pool, std::int64_t n) {
    if (n > 0) add(quantity, pool, n);
    if (n < 0) subtract(quantity, pool, -n);
  }

  Ledger& whole_;
  const std::size_t lane_;
  std::array<StatPart, quantity_count> parts_;
};

class Ledger {
 public:
  explicit Ledger(Bytes max_split_size)
      : Ledger(max_split_size, std::make_index_sequence<lane_count>()) {}
  Ledger(const Ledger&) = delete;
  Ledger& operator=(const Ledger&) = delete;

  // ---- facts of the heap ----
  LaneLedger& lane(std::size_t lane) { return lanes_[lane]; }
  const LaneLedger& lane(std::size_t lane) const { return lanes_[lane]; }
  void segment_added(PoolKind pool, Bytes size);
  void segment_removed(PoolKind pool, Bytes size);
  // What is oversize was counted anew: so many live blocks, and segments.
  void max_split_size_changed(Bytes max_split_size, std::int64_t allocations,
                              std::int64_t segments);
  // What comes and goes from now on is compared with it, and nothing else changes (PyTorch): what
  // was counted before is taken off as the new one says.
  void max_split_size_changed_unseen(Bytes max_split_size);

  // ---- facts of the allocator ----
  void retried() { ++num_alloc_retries_; }
  void synced_all_streams() { ++num_sync_all_streams_; }
  void ran_out_of_memory() { ++num_ooms_; }
  void rejected() { ++num_oom_rejections_; }
  void driver_allocated() { ++num_device_alloc_; }
  void driver_freed() { ++num_device_free_; }

  // Blocks that are active but not allocated, and their bytes, of the small and of the large pool.
  struct Pending {
    std::array<std::int64_t, 2> blocks{};
    std::array<std::int64_t, 2> bytes{};

    void change(PoolKind pool, std::int64_t n, std::int64_t n_bytes) {
      blocks[static_cast<std::size_t>(pool)] += n;
      bytes[static_cast<std::size_t>(pool)] += n_bytes;
    }
    bool is_any() const { return (blocks[0] | blocks[1]) != 0; }
  };

  DeviceStats read() const;
  const Pending& pending() const { return pending_; }
  // What the driver gave and has not got back, of both pools.
  Bytes reserved() const { return Bytes{static_cast<std::uint64_t>(reserved_bytes_.all())}; }
  void reset_peak();
  void reset_accumulated();

  // Whether the counts of what is oversize are those of a recount.
  bool counts_oversize() const { return counts_oversize_; }
  // For checkers: the sum of the lanes' parts, and its peak.
  PooledStat sum(Quantity quantity) const;

 private:
  friend class LaneLedger;

  template <std::size_t... lanes>
  Ledger(Bytes max_split_size, std::index_sequence<lanes...>)
      : lanes_{LaneLedger(*this, lanes)...},
        max_split_size_(max_split_size),
        shown_max_split_size_(max_split_size) {}

  PooledStat& whole(Quantity quantity) { return wholes_[static_cast<std::size_t>(quantity)]; }
  void use(std::size_t lane);
  void add_up(Quantity quantity, PooledStat& whole) const;
  // Notes the sum of the lanes' parts, and its peak, and shares out what is left below that.
  void share_out(Quantity quantity);
  static void add(Stat& stat);
  static void subtract(Stat& stat);
  static void move_to(Stat& stat, std::int64_t current);
  void note_active_peaks();

  std::array<LaneLedger, lane_count> lanes_;
  std::uint32_t used_lanes_ = 0;  // A bit each; the parts of all others are 0.
  int shares_log2_ = 0;           // As many as a power of two, one for each used lane at least.
  std::array<PooledStat, quantity_count> wholes_;  // As of the last share_out().
  // What is active is what is allocated and what is pending. As long as nothing is pending both are
  // equal, and so are their peaks; only above that a peak of its own is noted.
  Pending pending_;
  PooledPeak active_peak_;
  PooledPeak active_bytes_peak_;
  PooledStat segment_;
  PooledStat reserved_bytes_;
  Stat oversize_allocations_;
  Stat oversize_segments_;
  std::int64_t num_alloc_retries_ = 0;
  std::int64_t num_ooms_ = 0;
  std::int64_t num_oom_rejections_ = 0;
  std::int64_t num_sync_all_streams_ = 0;
  std::int64_t num_device_alloc_ = 0;
  std::int64_t num_device_free_ = 0;
  Bytes max_split_size_;
  Pending pending_at_reset_;  // Of what accumulated.
  Bytes shown_max_split_size_;
  bool counts_oversize_ = true;
};

inline bool LaneLedger::try_change_split(PoolKind pool, const SplitChange& change) {
  StatPart& blocks = part(Quantity::inactive_split);
  StatPart& bytes = part(Quantity::inactive_split_bytes);
  if (!blocks.has_room(pool, change.blocks) || !bytes.has_room(pool, change.bytes)) return false;
  blocks.change(pool, change.blocks);
  bytes.change(pool, change.bytes);
  return true;
}

inline bool LaneLedger::try_hand_out(PoolKind pool, const HandedOut& block) {
  StatPart& allocation = part(Quantity::allocation);
  StatPart& allocated = part(Quantity::allocated_bytes);
  StatPart& requested = part(Quantity::requested_bytes);
  const bool has_room = block.size < whole_.max_split_size_ && allocation.has_room(pool, 1) &&
                        allocated.has_room(pool, signed_count(block.size)) &&
                        requested.has_room(pool, signed_count(block.requested));
  if (!has_room || !try_change_split(pool, block.split)) return false;
  allocation.add(pool, 1);
  allocated.add(pool, signed_count(block.size));
  requested.add(pool, signed_count(block.requested));
  return true;
}

inline bool LaneLedger::try_free(PoolKind pool, const HandedOut& block) {
  if (block.size >= whole_.max_split_size_ || !try_change_split(pool, block.split)) return false;
  subtract(Quantity::allocation, pool, 1);
  subtract(Quantity::allocated_bytes, pool, signed_count(block.size));
  subtract(Quantity::requested_bytes, pool, signed_count(block.requested));
  return true;
}

inline void LaneLedger::add(Quantity quantity, PoolKind pool, std::int64_t n) {
  StatPart& changed = part(quantity);
  changed.add(pool, n);
  if (!changed.has_room(pool, 0)) [[unlikely]] {
    whole_.use(lane_);
    whole_.share_out(quantity);
  }
}

inline void LaneLedger::handed_out(PoolKind pool, Bytes size, Bytes requested) {
  add(Quantity::allocation, pool, 1);
  add(Quantity::allocated_bytes, pool, signed_count(size));
  add(Quantity::requested_bytes, pool, signed_count(requested));
  if (size >= whole_.max_split_size_) Ledger::add(whole_.oversize_allocations_);
  if (whole_.pending_.is_any()) whole_.note_active_peaks();
}

inline void LaneLedger::freed(PoolKind pool, Bytes size) {
  subtract(Quantity::allocation, pool, 1);
  subtract(Quantity::allocated_bytes, pool, signed_count(size));
  whole_.pending_.change(pool, 1, signed_count(size));
  if (size >= whole_.max_split_size_) Ledger::subtract(whole_.oversize_allocations_);
}

inline void LaneLedger::became_free(PoolKind pool, Bytes size, Bytes requested) {
  whole_.pending_.change(pool, -1, -signed_count(size));
  subtract(Quantity::requested_bytes, pool, signed_count(requested));
}

inline void LaneLedger::freed_at_once(PoolKind pool, Bytes size, Bytes requested) {
  subtract(Quantity::allocation, pool, 1);
  subtract(Quantity::allocated_bytes, pool, signed_count(size));
  subtract(Quantity::requested_bytes, pool, signed_count(requested));
  if (size >= whole_.max_split_size_) Ledger::subtract(whole_.oversize_allocations_);
}

}  // namespace cairn
