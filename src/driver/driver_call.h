// Every kind of driver call that Cairn will ever make, under the name by which Programs speak of it
// (`fault malloc at=3`, `calls(event_record)`).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace cairn {

enum class DriverCall : std::uint8_t {
  malloc,
  free,
  mem_info,
  event_create,
  event_record,
  event_query,
  event_sync,
  event_destroy,
  stream_wait,
  stream_query,
  stream_sync,
  device_sync,
  ctx_record,
  stream_ctx,
  stream_id,
  is_capturing,
  capture_mode,
  graph_dependencies,
  reserve,
  unreserve,
  create,
  release,
  map,
  unmap,
  set_access,
  export_handle,
  import_handle,
  ipc_get,
  ipc_open,
  ipc_close,
  enable_peer,
  host_alloc,
  host_free,
  memcpy,
  memset,
};
inline constexpr int driver_call_count = static_cast<int>(DriverCall::memset) + 1;

// "malloc", "event_record", ...; export_handle and import_handle are "export" and "import".
std::string_view to_string(DriverCall call);
std::optional<DriverCall> driver_call_from(std::string_view name);

// Whether a stream is what the call is about.
bool takes_stream(DriverCall call);

}  // namespace cairn
