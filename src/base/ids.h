// Names of things that are numbers underneath.
#pragma once

#include <compare>
#include <cstdint>

namespace cairn {

// Index of a device, from 0, as CUDA counts them.
using DeviceIndex = int;

// Which stream, among those of one device: the key under which freed memory is reused. Most are the
// caller's handle (or the driver's id of it); the streams that no handle names for good have a
// value above all handles.
struct StreamId {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const StreamId&, const StreamId&) = default;
};

inline constexpr std::uint64_t first_special_stream = std::uint64_t{1} << 61;

inline constexpr StreamId legacy_default_stream{0};
// Events of everything that runs in a device's primary context.
inline constexpr StreamId whole_context_stream{first_special_stream};
// The per-thread default stream of one host thread (see this_thread_number()).
constexpr StreamId per_thread_stream(std::uint64_t thread) {
  return {std::uint64_t{1} << 62 | thread};
}
// The n-th stream whose end was announced (see Allocator::forget_stream).
constexpr StreamId retired_stream(std::uint64_t n) { return {std::uint64_t{1} << 63 | n}; }

constexpr bool is_per_thread(StreamId stream) { return stream.value >> 62 == 1; }
constexpr bool is_retired(StreamId stream) { return stream.value >> 63 == 1; }

// Which stream, among those of all devices.
struct StreamKey {
  DeviceIndex device = 0;
  StreamId id;

  friend constexpr auto operator<=>(const StreamKey&, const StreamKey&) = default;
};

// Small requests and large ones are served from segments of their own (PyTorch: small_blocks and
// large_blocks).
enum class PoolKind : std::uint8_t { small, large };

}  // namespace cairn
