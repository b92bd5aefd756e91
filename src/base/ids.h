// Names of things that are numbers underneath.
#pragma once

#include <compare>
#include <cstdint>

namespace cairn {

// Index of a device, from 0, as CUDA counts them.
using DeviceIndex = int;

// Which stream, among those of one device: the key under which freed memory is reused. Today the
// caller's handle, with both names of the legacy default stream (0 and 0x1) made one.
struct StreamId {
  std::uint64_t value = 0;

  friend constexpr auto operator<=>(const StreamId&, const StreamId&) = default;
};

inline constexpr StreamId legacy_default_stream{0};

// Small requests and large ones are served from segments of their own (PyTorch: small_blocks and
// large_blocks).
enum class PoolKind : std::uint8_t { small, large };

}  // namespace cairn
