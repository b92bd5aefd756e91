#include "cairn/stats.h"

#include <tuple>

namespace cairn {
namespace {

// Every member: a new one that is not named here does not compile.
auto members(const DeviceStats& stats) {
  const auto& [allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
               active_bytes, inactive_split_bytes, requested_bytes, oversize_allocations,
               oversize_segments, num_alloc_retries, num_ooms, num_oom_rejections,
               num_sync_all_streams, num_device_alloc, num_device_free, max_split_size_bytes] =
      stats;
  return std::tie(allocation, segment, active, inactive_split, allocated_bytes, reserved_bytes,
                  active_bytes, inactive_split_bytes, requested_bytes, oversize_allocations,
                  oversize_segments, num_alloc_retries, num_ooms, num_oom_rejections,
                  num_sync_all_streams, num_device_alloc, num_device_free, max_split_size_bytes);
}

}  // namespace

bool operator==(const DeviceStats& a, const DeviceStats& b) { return members(a) == members(b); }

}  // namespace cairn
