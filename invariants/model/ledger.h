// The statistics of one device as a sum of what happened to it, one function for each event. `all`
// and the pool's own entry move together, each with a peak of its own.
//
// Not thread-safe.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/stats.h"

namespace cairn::model {

inline std::int64_t signed_count(Bytes size) { return static_cast<std::int64_t>(size.count); }

class Ledger {
 public:
  explicit Ledger(std::uint64_t max_split_size_bytes);

  void segment_came(PoolKind pool, Bytes size);
  void segment_went(PoolKind pool, Bytes size);
  void block_handed_out(PoolKind pool, Bytes size, Bytes requested);
  // The caller gave it back; it may still wait for events.
  void block_given_back(PoolKind pool, Bytes size);
  // ... and now it is free.
  void block_became_free(PoolKind pool, Bytes size, Bytes requested);
  // The free blocks that are part of a larger segment became `count` more (below 0: fewer), with
  // `bytes` more in all. One change: it goes to `allocated` or `freed` as a whole.
  void inactive_split_changed(PoolKind pool, std::int64_t count, std::int64_t bytes);

  void driver_gave() { ++stats_.num_device_alloc; }
  void driver_took() { ++stats_.num_device_free; }
  void retried() { ++stats_.num_alloc_retries; }
  void synchronized() { ++stats_.num_sync_all_streams; }
  void ran_out_of_memory() { ++stats_.num_ooms; }
  void rejected() { ++stats_.num_oom_rejections; }
  // Oversize begins elsewhere now, for what comes and goes from here on, and nothing shows it.
  void oversize_begins_at(std::uint64_t bytes) { oversize_from_ = bytes; }
  // Oversize begins elsewhere now, and these are the blocks handed out, and the segments, that are.
  void oversize_changed(std::uint64_t max_split_size_bytes, std::int64_t blocks,
                        std::int64_t segments);

  const DeviceStats& stats() const { return stats_; }
  void reset_peak();
  void reset_accumulated();

 private:
  bool is_oversize(Bytes size) const { return size.count >= oversize_from_; }

  std::uint64_t oversize_from_ = 0;
  DeviceStats stats_;
};

}  // namespace cairn::model
