// Statistics of one device, under PyTorch's names and with its meanings (torch.cuda.memory_stats).
#pragma once

#include <cstdint>

#include "cairn/export.h"

namespace cairn {

// A quantity over time: a count, or bytes where the name of the member says so. Since the last
// reset of the accumulated part `current` has changed by allocated - freed.
struct Stat {
  std::int64_t current = 0;
  std::int64_t peak = 0;       // The highest `current` since the last reset of the peak.
  std::int64_t allocated = 0;  // All that was ever added, since the last reset.
  std::int64_t freed = 0;      // All that was ever taken away, since the last reset.
};

inline bool operator==(const Stat& a, const Stat& b) {
  return a.current == b.current && a.peak == b.peak && a.allocated == b.allocated &&
         a.freed == b.freed;
}
inline bool operator!=(const Stat& a, const Stat& b) { return !(a == b); }

struct StatArray {
  Stat all;
  Stat small_pool;
  Stat large_pool;
};

inline bool operator==(const StatArray& a, const StatArray& b) {
  return a.all == b.all && a.small_pool == b.small_pool && a.large_pool == b.large_pool;
}
inline bool operator!=(const StatArray& a, const StatArray& b) { return !(a == b); }

struct DeviceStats {
  StatArray allocation;                 // Blocks handed out to the caller.
  StatArray segment;                    // Segments held from the driver.
  StatArray active;                     // Blocks handed out, or freed and still waiting for events.
  StatArray inactive_split;             // Free blocks that are part of a larger segment.
  StatArray allocated_bytes;            // Block sizes of `allocation`.
  StatArray reserved_bytes;             // Sizes of `segment`.
  StatArray active_bytes;               // Block sizes of `active`.
  StatArray inactive_split_bytes;       // Block sizes of `inactive_split`.
  StatArray requested_bytes;            // What the callers of `active` blocks asked for.
  Stat oversize_allocations;            // Blocks handed out of max_split_size and above.
  Stat oversize_segments;               // Segments of max_split_size and above.
  std::int64_t num_alloc_retries = 0;   // Driver asked again after the whole cache was released.
  std::int64_t num_ooms = 0;            // Requests that failed for want of memory.
  std::int64_t num_oom_rejections = 0;  // Requests refused by throw_on_cudamalloc_oom.
  std::int64_t num_sync_all_streams = 0;   // Waits for all events of the device.
  std::int64_t num_device_alloc = 0;       // Successful driver allocations.
  std::int64_t num_device_free = 0;        // Successful driver frees.
  std::uint64_t max_split_size_bytes = 0;  // As set now; 2^64-1 is unlimited.
};

CAIRN_EXPORT bool operator==(const DeviceStats& a, const DeviceStats& b);
inline bool operator!=(const DeviceStats& a, const DeviceStats& b) { return !(a == b); }

}  // namespace cairn
