#include "heap/ledger.h"

namespace cairn {

Stat PooledStat::Part::read() const {
  return {current, peak, added - added_at_reset, added - current - freed_at_reset};
}

StatArray PooledStat::read() const {
  const Stat small = pools_[0].read();
  const Stat large = pools_[1].read();
  return {{small.current + large.current, peak_of_all_, small.allocated + large.allocated,
           small.freed + large.freed},
          small,
          large};
}

void PooledStat::reset_peak() {
  for (Part& part : pools_) part.peak = part.current;
  peak_of_all_ = pools_[0].current + pools_[1].current;
}

void PooledStat::reset_accumulated() {
  for (Part& part : pools_) {
    part.added_at_reset = part.added;
    part.freed_at_reset = part.added - part.current;
  }
}

void Ledger::add(Stat& stat) {
  ++stat.current;
  ++stat.allocated;
  stat.peak = std::max(stat.peak, stat.current);
}

void Ledger::subtract(Stat& stat) {
  --stat.current;
  ++stat.freed;
}

void Ledger::segment_added(PoolKind pool, Bytes size) {
  segment_.add(pool, 1);
  reserved_bytes_.add(pool, static_cast<std::int64_t>(size.count));
  if (size >= max_split_size_) add(oversize_segments_);
}

void Ledger::segment_removed(PoolKind pool, Bytes size) {
  segment_.subtract(pool, 1);
  reserved_bytes_.subtract(pool, static_cast<std::int64_t>(size.count));
  if (size >= max_split_size_) subtract(oversize_segments_);
}

DeviceStats Ledger::read() const {
  DeviceStats stats;
  stats.allocation = allocation_.read();
  stats.segment = segment_.read();
  stats.active = active_.read();
  stats.inactive_split = inactive_split_.read();
  stats.allocated_bytes = allocated_bytes_.read();
  stats.reserved_bytes = reserved_bytes_.read();
  stats.active_bytes = active_bytes_.read();
  stats.inactive_split_bytes = inactive_split_bytes_.read();
  stats.requested_bytes = requested_bytes_.read();
  stats.oversize_allocations = oversize_allocations_;
  stats.oversize_segments = oversize_segments_;
  stats.num_alloc_retries = num_alloc_retries_;
  stats.num_ooms = num_ooms_;
  stats.num_sync_all_streams = num_sync_all_streams_;
  stats.num_device_alloc = num_device_alloc_;
  stats.num_device_free = num_device_free_;
  stats.max_split_size_bytes = max_split_size_.count;
  return stats;
}

void Ledger::reset_peak() {
  for (PooledStat* stat :
       {&allocation_, &active_, &allocated_bytes_, &active_bytes_, &requested_bytes_,
        &inactive_split_, &inactive_split_bytes_, &segment_, &reserved_bytes_}) {
    stat->reset_peak();
  }
  oversize_allocations_.peak = oversize_allocations_.current;
  oversize_segments_.peak = oversize_segments_.current;
}

void Ledger::reset_accumulated() {
  for (PooledStat* stat :
       {&allocation_, &active_, &allocated_bytes_, &active_bytes_, &requested_bytes_,
        &inactive_split_, &inactive_split_bytes_, &segment_, &reserved_bytes_}) {
    stat->reset_accumulated();
  }
  oversize_allocations_.allocated = oversize_allocations_.freed = 0;
  oversize_segments_.allocated = oversize_segments_.freed = 0;
  num_alloc_retries_ = num_ooms_ = num_sync_all_streams_ = 0;
  num_device_alloc_ = num_device_free_ = 0;
}

}  // namespace cairn
