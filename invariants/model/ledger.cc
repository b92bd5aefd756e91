#include "invariants/model/ledger.h"

#include <algorithm>

namespace cairn::model {
namespace {

void change(Stat& stat, std::int64_t by) {
  stat.current += by;
  stat.peak = std::max(stat.peak, stat.current);
  (by > 0 ? stat.allocated : stat.freed) += by > 0 ? by : -by;
}

void change(StatArray& stats, PoolKind pool, std::int64_t by) {
  change(stats.all, by);
  change(pool == PoolKind::small ? stats.small_pool : stats.large_pool, by);
}

template <class Action>
void for_each_stat(DeviceStats& stats, Action action) {
  for (StatArray* array : {&stats.allocation, &stats.segment, &stats.active, &stats.inactive_split,
                           &stats.allocated_bytes, &stats.reserved_bytes, &stats.active_bytes,
                           &stats.inactive_split_bytes, &stats.requested_bytes}) {
    action(array->all);
    action(array->small_pool);
    action(array->large_pool);
  }
  action(stats.oversize_allocations);
  action(stats.oversize_segments);
}

}  // namespace

Ledger::Ledger(std::uint64_t max_split_size_bytes) : oversize_from_(max_split_size_bytes) {
  stats_.max_split_size_bytes = max_split_size_bytes;
}

void Ledger::segment_came(PoolKind pool, Bytes size) {
  change(stats_.segment, pool, 1);
  change(stats_.reserved_bytes, pool, signed_count(size));
  if (is_oversize(size)) change(stats_.oversize_segments, 1);
}

void Ledger::segment_went(PoolKind pool, Bytes size) {
  change(stats_.segment, pool, -1);
  change(stats_.reserved_bytes, pool, -signed_count(size));
  if (is_oversize(size)) change(stats_.oversize_segments, -1);
}

void Ledger::block_handed_out(PoolKind pool, Bytes size, Bytes requested) {
  change(stats_.allocation, pool, 1);
  change(stats_.allocated_bytes, pool, signed_count(size));
  change(stats_.active, pool, 1);
  change(stats_.active_bytes, pool, signed_count(size));
  change(stats_.requested_bytes, pool, signed_count(requested));
  if (is_oversize(size)) change(stats_.oversize_allocations, 1);
}

void Ledger::block_given_back(PoolKind pool, Bytes size) {
  change(stats_.allocation, pool, -1);
  change(stats_.allocated_bytes, pool, -signed_count(size));
  if (is_oversize(size)) change(stats_.oversize_allocations, -1);
}

void Ledger::block_became_free(PoolKind pool, Bytes size, Bytes requested) {
  change(stats_.active, pool, -1);
  change(stats_.active_bytes, pool, -signed_count(size));
  change(stats_.requested_bytes, pool, -signed_count(requested));
}

void Ledger::inactive_split_changed(PoolKind pool, std::int64_t count, std::int64_t bytes) {
  change(stats_.inactive_split, pool, count);
  change(stats_.inactive_split_bytes, pool, bytes);
}

void Ledger::oversize_changed(std::uint64_t max_split_size_bytes, std::int64_t blocks,
                              std::int64_t segments) {
  oversize_from_ = max_split_size_bytes;
  stats_.max_split_size_bytes = max_split_size_bytes;
  change(stats_.oversize_allocations, blocks - stats_.oversize_allocations.current);
  change(stats_.oversize_segments, segments - stats_.oversize_segments.current);
}

void Ledger::reset_peak() {
  for_each_stat(stats_, [](Stat& stat) { stat.peak = stat.current; });
}

void Ledger::reset_accumulated() {
  for_each_stat(stats_, [](Stat& stat) { stat.allocated = stat.freed = 0; });
  stats_.num_alloc_retries = 0;
  stats_.num_ooms = 0;
  stats_.num_oom_rejections = 0;
  stats_.num_sync_all_streams = 0;
  stats_.num_device_alloc = 0;
  stats_.num_device_free = 0;
}

}  // namespace cairn::model
