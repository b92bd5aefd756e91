// A CUDA that does nothing, as libcuda.so.1 and libcudart.so.13: memory is handed out and counted,
// events are over at once. What runs on it is an allocator alone. Both libraries share one device.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cairn::bench {

// Kinds of calls, counted in the interface that the caller uses: the runtime's or the driver's.
enum class NullCall : std::size_t {
  malloc,
  free,
  event_create,
  event_record,
  event_query,
  event_destroy,
  wait,     // Of the host for the device or an event, of a stream for an event.
  context,  // Which device or context is current, and changes of it.
  other,
  count
};
using NullCalls = std::array<std::uint64_t, static_cast<std::size_t>(NullCall::count)>;

inline constexpr std::uint64_t null_memory_bytes = std::uint64_t{1} << 40;

// What libcuda.so.1 has beside CUDA's calls.
extern "C" {
NullCalls* cairn_null_device_calls();
std::uint64_t cairn_null_device_held();
// 0: there is not as much left.
std::uint64_t cairn_null_device_malloc(std::uint64_t size_bytes);
// False: no such memory.
bool cairn_null_device_free(std::uint64_t address);
}

inline void count(NullCall call) { ++(*cairn_null_device_calls())[static_cast<std::size_t>(call)]; }

}  // namespace cairn::bench
