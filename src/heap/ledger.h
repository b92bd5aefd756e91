// The statistics of one heap. Each fact is posted once, where it happens; numbers are sums of what
// was posted, and equal a recount of the blocks at any time (L2 to L7). Meanings are PyTorch's.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

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
  void change(PoolKind pool, std::int64_t n) {
    if (n > 0) add(pool, n);
    if (n < 0) subtract(pool, -n);
  }
  std::int64_t current(PoolKind pool) const { return current_[static_cast<std::size_t>(pool)]; }
  std::int64_t all() const { return current_[0] + current_[1]; }
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

class Ledger {
 public:
  explicit Ledger(Bytes max_split_size) : max_split_size_(max_split_size) {}

  // ---- facts of the heap; sizes are the block's, but for `requested` ----
  void handed_out(PoolKind pool, Bytes size, Bytes requested) {
    allocation_.add(pool, 1);
    allocated_bytes_.add(pool, signed_count(size));
    requested_bytes_.add(pool, signed_count(requested));
    if (size >= max_split_size_) add(oversize_allocations_);
    if (pending_.is_any()) note_active_peaks();
  }
  // The caller gave the block back. From here to became_free() it is pending: active, but not
  // allocated.
  void freed(PoolKind pool, Bytes size) {
    allocation_.subtract(pool, 1);
    allocated_bytes_.subtract(pool, signed_count(size));
    pending_.change(pool, 1, signed_count(size));
    if (size >= max_split_size_) subtract(oversize_allocations_);
  }
  // Nothing uses the block any more.
  void became_free(PoolKind pool, Bytes size, Bytes requested) {
    pending_.change(pool, -1, -signed_count(size));
    requested_bytes_.subtract(pool, signed_count(requested));
  }
  // Both at once: a block that nobody waits for.
  void freed_at_once(PoolKind pool, Bytes size, Bytes requested) {
    allocation_.subtract(pool, 1);
    allocated_bytes_.subtract(pool, signed_count(size));
    requested_bytes_.subtract(pool, signed_count(requested));
    if (size >= max_split_size_) subtract(oversize_allocations_);
  }
  // The free blocks that are part of a larger segment changed by so many, and so many bytes.
  void inactive_split_changed(PoolKind pool, std::int64_t blocks, std::int64_t bytes) {
    inactive_split_.change(pool, blocks);
    inactive_split_bytes_.change(pool, bytes);
  }
  void segment_added(PoolKind pool, Bytes size);
  void segment_removed(PoolKind pool, Bytes size);
  // What is oversize was counted anew: so many live blocks, and segments.
  void max_split_size_changed(Bytes max_split_size, std::int64_t allocations,
                              std::int64_t segments);

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

 private:
  static void add(Stat& stat);
  static void subtract(Stat& stat);
  static void move_to(Stat& stat, std::int64_t current);
  void note_active_peaks();
  std::array<PooledStat*, 7> pooled_stats();

  // What is active is what is allocated and what is pending. As long as nothing is pending both are
  // equal, and so are their peaks; only above that a peak of its own is noted.
  PooledStat allocation_;
  PooledStat allocated_bytes_;
  PooledStat requested_bytes_;
  Pending pending_;
  PooledPeak active_peak_;
  PooledPeak active_bytes_peak_;
  PooledStat inactive_split_;
  PooledStat inactive_split_bytes_;
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
};

}  // namespace cairn
