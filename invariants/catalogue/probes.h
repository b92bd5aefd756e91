// The error branches of src/heap and src/allocator: each carries a CAIRN_PROBE (hook.h) with one of
// these names, and is counted when it is taken. ci/tidy sees that every such branch has one, and
// that each name stands in the code; ci/faults that each is taken.
//
// Thread safety: any thread may count.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace cairn::invariants {

inline constexpr auto probes = std::to_array<std::string_view>({
    "allocate.bad_alignment",
    "allocate.larger_than_possible",
    "allocate.lost",
    "allocate.lost_by_a_look",
    "allocate.no_such_device",
    "allocate.not_ready",
    "allocate.stream_not_identified",
    "at_device.foreign_pointer",
    "at_device.not_done",
    "callback.threw",
    "callback.threw_no_exception",
    "climb_on.no_host_memory",
    "climb_on.out_of_memory",
    "destroy_events.lost",
    "direct.handle_dead",
    "direct.handle_unknown",
    "direct.stream_id_failed",
    "driver.not_opened",
    "empty_cache.lost",
    "empty_cache.not_done",
    "empty_cache.not_waited",
    "end.lost_before_destroy",
    "end.lost_before_free",
    "end.no_host_memory",
    "environment.unsupported",
    "event_query.failed",
    "event_sync.failed",
    "event_sync_of_retired.failed",
    "face.no_host_memory",
    "face.no_such_device",
    "face.says_why",
    "face.throws",
    "fence.direct_failed",
    "fence.event_record_failed",
    "fence.event_record_made_good",
    "fence.no_event",
    "fence.stream_ctx_failed",
    "fence.stream_ctx_made_good",
    "fence.stream_id_failed",
    "fence_context.ctx_record_failed",
    "fence_context.ctx_record_not_supported",
    "fence_context.device_sync_failed",
    "fence_context.no_event",
    "find_live.not_live",
    "forget_stream.default_stream",
    "forget_stream.no_such_device",
    "forget_stream.not_done",
    "forget_stream.not_fenced",
    "forget_stream.stream_not_identified",
    "free.lost",
    "free.not_fenced",
    "free.not_live",
    "free.wrong_size",
    "free.wrong_stream",
    "free_checked.stream_not_identified",
    "free_on.no_host_memory",
    "free_on.not_freed",
    "free_on.not_live",
    "free_on.stream_not_identified",
    "holder.foreign_pointer",
    "holder.not_live",
    "holds.not_live",
    "identify.impossible_handle",
    "identify.impossible_id",
    "identify.lost",
    "identify.lost_and_unknown",
    "identify.not_told",
    "identify.stream_id_failed",
    "ladder.events_not_waited",
    "ladder.garbage_not_released",
    "ladder.impossible_segment",
    "ladder.limit_reached",
    "ladder.lost_while_asked",
    "ladder.lost_while_called_back",
    "ladder.malloc_failed",
    "ladder.malloc_out_of_memory",
    "ladder.misaligned_segment",
    "ladder.no_host_memory",
    "ladder.not_released",
    "ladder.out_of_memory",
    "ladder.oversize_not_released",
    "ladder.rejected",
    "look_at_events.first_failure",
    "look_at_events.lost",
    "options.at_fault",
    "options.unsupported",
    "out_of_memory.lost",
    "out_of_memory.mem_info_failed",
    "process_events.lost",
    "process_events.no_such_device",
    "reconfigure.unchangeable",
    "reconfigure.unreadable",
    "reconfigure.unsupported",
    "record_stream.not_live",
    "record_stream.not_live_passed_over",
    "record_stream.stream_not_identified",
    "release.free_failed",
    "release.not_waited",
    "set_memory_fraction.bad_fraction",
    "set_memory_fraction.no_such_device",
    "settings.unreadable",
    "take_event.not_created",
    "user.holder_not_found",
    "user.no_such_device",
    "user.stream_not_identified",
    "wait_for_all_events.failed",
    "wait_for_device.failed",
    "wait_for_stream.failed",
    "wait_for_stream.made_good",
    "wait_for_stream.stream_id_failed",
});

// Where a probe is counted. No constant where there is no such probe, which does not compile.
consteval std::size_t place_of_probe(std::string_view name) {
  std::size_t place = 0;
  while (probes[place] != name) ++place;
  return place;
}

extern std::array<std::atomic<std::uint64_t>, probes.size()> probe_counts;

// Gives true, so that it can stand in a condition.
inline bool count_probe(std::size_t place) {
  probe_counts[place].fetch_add(1, std::memory_order_relaxed);
  return true;
}

}  // namespace cairn::invariants
