// The members of DeviceStats by their names in torch.cuda.memory_stats(), for those who go through
// all of them. Apart stands max_split_size_bytes, which is a setting.
#pragma once

#include <array>
#include <cstdint>

#include "cairn/stats.h"

namespace cairn {

template <class T>
struct StatMember {
  const char* name;
  T DeviceStats::* pointer;
};

inline constexpr auto array_members = std::to_array<StatMember<StatArray>>({
    {"allocation", &DeviceStats::allocation},
    {"segment", &DeviceStats::segment},
    {"active", &DeviceStats::active},
    {"inactive_split", &DeviceStats::inactive_split},
    {"allocated_bytes", &DeviceStats::allocated_bytes},
    {"reserved_bytes", &DeviceStats::reserved_bytes},
    {"active_bytes", &DeviceStats::active_bytes},
    {"inactive_split_bytes", &DeviceStats::inactive_split_bytes},
    {"requested_bytes", &DeviceStats::requested_bytes},
});
inline constexpr auto stat_members = std::to_array<StatMember<Stat>>({
    {"oversize_allocations", &DeviceStats::oversize_allocations},
    {"oversize_segments", &DeviceStats::oversize_segments},
});
inline constexpr auto count_members = std::to_array<StatMember<std::int64_t>>({
    {"num_alloc_retries", &DeviceStats::num_alloc_retries},
    {"num_ooms", &DeviceStats::num_ooms},
    {"num_oom_rejections", &DeviceStats::num_oom_rejections},
    {"num_sync_all_streams", &DeviceStats::num_sync_all_streams},
    {"num_device_alloc", &DeviceStats::num_device_alloc},
    {"num_device_free", &DeviceStats::num_device_free},
});
static_assert(sizeof(DeviceStats) == array_members.size() * sizeof(StatArray) +
                                         stat_members.size() * sizeof(Stat) +
                                         count_members.size() * sizeof(std::int64_t) +
                                         sizeof(DeviceStats::max_split_size_bytes),
              "each member stands above");

}  // namespace cairn
