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

// A quantity of both pools. What was freed is derived: all that was added less what is there.
class PooledStat {
 public:
  void add(PoolKind pool, std::int64_t n) {
    const auto p = static_cast<std::size_t>(pool);
    pools_[p].current += n;
    pools_[p].added += n;
    pools_[p].peak = std::max(pools_[p].peak, pools_[p].current);
    peak_of_all_ = std::max(peak_of_all_, pools_[0].current + pools_[1].current);
  }
  void subtract(PoolKind pool, std::int64_t n) {
    pools_[static_cast<std::size_t>(pool)].current -= n;
  }
  void reset_peak();
  void reset_accumulated();
  StatArray read() const;

 private:
  struct Part {
    std::int64_t current = 0;
    std::int64_t added = 0;
    std::int64_t peak = 0;
    std::int64_t added_at_reset = 0;
    std::int64_t freed_at_reset = 0;
    Stat read() const;
  };
  std::array<Part, 2> pools_;
  std::int64_t peak_of_all_ = 0;
};

class Ledger {
 public:
  explicit Ledger(Bytes max_split_size) : max_split_size_(max_split_size) {}

  // ---- facts of the heap; sizes are the block's, but for `requested` ----
  void handed_out(PoolKind pool, Bytes size, Bytes requested) {
    const auto bytes = static_cast<std::int64_t>(size.count);
    allocation_.add(pool, 1);
    active_.add(pool, 1);
    allocated_bytes_.add(pool, bytes);
    active_bytes_.add(pool, bytes);
    requested_bytes_.add(pool, static_cast<std::int64_t>(requested.count));
    if (size >= max_split_size_) add(oversize_allocations_);
  }
  // The caller gave the block back.
  void freed(PoolKind pool, Bytes size) {
    allocation_.subtract(pool, 1);
    allocated_bytes_.subtract(pool, static_cast<std::int64_t>(size.count));
    if (size >= max_split_size_) subtract(oversize_allocations_);
  }
  // Nothing uses the block any more.
  void became_free(PoolKind pool, Bytes size, Bytes requested) {
    active_.subtract(pool, 1);
    active_bytes_.subtract(pool, static_cast<std::int64_t>(size.count));
    requested_bytes_.subtract(pool, static_cast<std::int64_t>(requested.count));
  }
  // The free blocks that are part of a larger segment changed by so many, and so many bytes.
  void inactive_split_changed(PoolKind pool, std::int64_t blocks, std::int64_t bytes) {
    change(inactive_split_, pool, blocks);
    change(inactive_split_bytes_, pool, bytes);
  }
  void segment_added(PoolKind pool, Bytes size);
  void segment_removed(PoolKind pool, Bytes size);

  // ---- facts of the allocator ----
  void retried() { ++num_alloc_retries_; }
  void synced_all_streams() { ++num_sync_all_streams_; }
  void ran_out_of_memory() { ++num_ooms_; }
  void driver_allocated() { ++num_device_alloc_; }
  void driver_freed() { ++num_device_free_; }

  DeviceStats read() const;
  void reset_peak();
  void reset_accumulated();

 private:
  static void change(PooledStat& stat, PoolKind pool, std::int64_t n) {
    if (n > 0) stat.add(pool, n);
    if (n < 0) stat.subtract(pool, -n);
  }
  static void add(Stat& stat);
  static void subtract(Stat& stat);

  PooledStat allocation_;
  PooledStat active_;
  PooledStat allocated_bytes_;
  PooledStat active_bytes_;
  PooledStat requested_bytes_;
  PooledStat inactive_split_;
  PooledStat inactive_split_bytes_;
  PooledStat segment_;
  PooledStat reserved_bytes_;
  Stat oversize_allocations_;
  Stat oversize_segments_;
  std::int64_t num_alloc_retries_ = 0;
  std::int64_t num_ooms_ = 0;
  std::int64_t num_sync_all_streams_ = 0;
  std::int64_t num_device_alloc_ = 0;
  std::int64_t num_device_free_ = 0;
  Bytes max_split_size_;
};

}  // namespace cairn
