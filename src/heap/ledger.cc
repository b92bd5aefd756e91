#include "heap/ledger.h"

#include <bit>
#include <cstdlib>

namespace cairn {

Stat PooledStat::read(std::size_t pool) const {
  return {current_[pool], peak_.pools[pool], added_[pool] - added_at_reset_[pool],
          added_[pool] - current_[pool] - freed_at_reset_[pool]};
}

StatArray PooledStat::read() const {
  const Stat small = read(0);
  const Stat large = read(1);
  return {{small.current + large.current, peak_.all, small.allocated + large.allocated,
           small.freed + large.freed},
          small,
          large};
}

StatArray PooledStat::read_with(const std::array<std::int64_t, 2>& more,
                                const std::array<std::int64_t, 2>& more_at_reset,
                                const PooledPeak& peak) const {
  PooledStat whole = *this;
  for (std::size_t pool = 0; pool < more.size(); ++pool) {
    whole.current_[pool] += more[pool];
    whole.freed_at_reset_[pool] -= more_at_reset[pool];
    whole.peak_.pools[pool] = std::max(peak_.pools[pool], peak.pools[pool]);
  }
  whole.peak_.all = std::max(peak_.all, peak.all);
  return whole.read();
}

void PooledStat::reset_peak() { peak_ = {current_, current_[0] + current_[1]}; }

void PooledStat::reset_accumulated() {
  for (std::size_t pool = 0; pool < added_.size(); ++pool) {
    added_at_reset_[pool] = added_[pool];
    freed_at_reset_[pool] = added_[pool] - current_[pool];
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

void Ledger::move_to(Stat& stat, std::int64_t current) {
  const std::int64_t change = current - stat.current;
  (change > 0 ? stat.allocated : stat.freed) += std::abs(change);
  stat.current = current;
  stat.peak = std::max(stat.peak, current);
}

void Ledger::use(std::size_t lane) {
  const std::uint32_t bit = std::uint32_t{1} << lane;
  if ((used_lanes_ & bit) != 0) return;
  used_lanes_ |= bit;
  shares_log2_ =
      static_cast<int>(std::bit_width(static_cast<unsigned>(std::popcount(used_lanes_)) - 1));
}

void Ledger::add_up(Quantity quantity, PooledStat& whole) const {
  whole.clear();
  for (std::uint32_t left = used_lanes_; left != 0; left &= left - 1) {
    whole.include(lanes_[static_cast<std::size_t>(std::countr_zero(left))].part(quantity));
  }
}

PooledStat Ledger::sum(Quantity quantity) const {
  PooledStat sum = wholes_[static_cast<std::size_t>(quantity)];
  add_up(quantity, sum);
  return sum;
}

void Ledger::share_out(Quantity quantity) {
  PooledStat& all = whole(quantity);
  add_up(quantity, all);
  all.note_peak();
  const PooledPeak room = all.room();
  const PooledPeak share{{room.pools[0] >> shares_log2_, room.pools[1] >> shares_log2_},
                         room.all >> shares_log2_};
  for (std::uint32_t left = used_lanes_; left != 0; left &= left - 1) {
    lanes_[static_cast<std::size_t>(std::countr_zero(left))].part(quantity).set_room(share);
  }
}

void Ledger::note_active_peaks() {
  const PooledStat blocks = sum(Quantity::allocation);
  const PooledStat bytes = sum(Quantity::allocated_bytes);
  active_peak_.note(blocks.current(PoolKind::small) + pending_.blocks[0],
                    blocks.current(PoolKind::large) + pending_.blocks[1]);
  active_bytes_peak_.note(bytes.current(PoolKind::small) + pending_.bytes[0],
                          bytes.current(PoolKind::large) + pending_.bytes[1]);
}

void Ledger::segment_added(PoolKind pool, Bytes size) {
  segment_.add(pool, 1);
  reserved_bytes_.add(pool, signed_count(size));
  if (size >= max_split_size_) add(oversize_segments_);
}

void Ledger::segment_removed(PoolKind pool, Bytes size) {
  segment_.subtract(pool, 1);
  reserved_bytes_.subtract(pool, signed_count(size));
  if (size >= max_split_size_) subtract(oversize_segments_);
}

void Ledger::max_split_size_changed(Bytes max_split_size, std::int64_t allocations,
                                    std::int64_t segments) {
  max_split_size_ = shown_max_split_size_ = max_split_size;
  move_to(oversize_allocations_, allocations);
  move_to(oversize_segments_, segments);
}

void Ledger::max_split_size_changed_unseen(Bytes max_split_size) {
  if (max_split_size != max_split_size_) counts_oversize_ = false;
  max_split_size_ = max_split_size;
}

DeviceStats Ledger::read() const {
  const PooledStat blocks = sum(Quantity::allocation);
  const PooledStat bytes = sum(Quantity::allocated_bytes);
  DeviceStats stats;
  stats.allocation = blocks.read();
  stats.segment = segment_.read();
  stats.active = blocks.read_with(pending_.blocks, pending_at_reset_.blocks, active_peak_);
  stats.inactive_split = sum(Quantity::inactive_split).read();
  stats.allocated_bytes = bytes.read();
  stats.reserved_bytes = reserved_bytes_.read();
  stats.active_bytes = bytes.read_with(pending_.bytes, pending_at_reset_.bytes, active_bytes_peak_);
  stats.inactive_split_bytes = sum(Quantity::inactive_split_bytes).read();
  stats.requested_bytes = sum(Quantity::requested_bytes).read();
  stats.oversize_allocations = oversize_allocations_;
  stats.oversize_segments = oversize_segments_;
  stats.num_alloc_retries = num_alloc_retries_;
  stats.num_ooms = num_ooms_;
  stats.num_oom_rejections = num_oom_rejections_;
  stats.num_sync_all_streams = num_sync_all_streams_;
  stats.num_device_alloc = num_device_alloc_;
  stats.num_device_free = num_device_free_;
  stats.max_split_size_bytes = shown_max_split_size_.count;
  return stats;
}

void Ledger::reset_peak() {
  for (std::size_t i = 0; i < quantity_count; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    add_up(quantity, whole(quantity));
    whole(quantity).reset_peak();
    share_out(quantity);
  }
  segment_.reset_peak();
  reserved_bytes_.reset_peak();
  active_peak_ = {};
  active_bytes_peak_ = {};
  note_active_peaks();
  oversize_allocations_.peak = oversize_allocations_.current;
  oversize_segments_.peak = oversize_segments_.current;
}

void Ledger::reset_accumulated() {
  for (std::size_t i = 0; i < quantity_count; ++i) {
    const auto quantity = static_cast<Quantity>(i);
    add_up(quantity, whole(quantity));
    whole(quantity).reset_accumulated();
  }
  segment_.reset_accumulated();
  reserved_bytes_.reset_accumulated();
  pending_at_reset_ = pending_;
  oversize_allocations_.allocated = oversize_allocations_.freed = 0;
  oversize_segments_.allocated = oversize_segments_.freed = 0;
  num_alloc_retries_ = num_ooms_ = num_oom_rejections_ = num_sync_all_streams_ = 0;
  num_device_alloc_ = num_device_free_ = 0;
}

}  // namespace cairn
