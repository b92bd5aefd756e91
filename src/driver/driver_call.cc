// The names of the driver's calls, in the order of DriverCall.
#include "driver/driver_call.h"

#include <algorithm>
#include <array>

namespace cairn {
namespace {

constexpr std::array names = std::to_array<std::string_view>({
    "malloc",       "free",          "mem_info",
    "event_create", "event_record",  "event_query",
    "event_sync",   "event_destroy", "stream_wait",
    "stream_query", "stream_sync",   "device_sync",
    "ctx_record",   "stream_ctx",    "stream_id",
    "is_capturing", "capture_mode",  "graph_dependencies",
    "reserve",      "unreserve",     "create",
    "release",      "map",           "unmap",
    "set_access",   "export",        "import",
    "ipc_get",      "ipc_open",      "ipc_close",
    "enable_peer",  "host_alloc",    "host_free",
    "memcpy",       "memset",
});
static_assert(names.size() == driver_call_count);

}  // namespace

std::string_view to_string(DriverCall call) { return names[static_cast<std::size_t>(call)]; }

std::optional<DriverCall> driver_call_from(std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<DriverCall>(found - names.begin());
}

bool takes_stream(DriverCall call) {
  switch (call) {
    case DriverCall::event_record:
    case DriverCall::stream_wait:
    case DriverCall::stream_query:
    case DriverCall::stream_sync:
    case DriverCall::stream_ctx:
    case DriverCall::stream_id:
      return true;
    default:
      return false;
  }
}

}  // namespace cairn
