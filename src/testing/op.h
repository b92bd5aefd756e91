// The one record of an operation: what a fuzzer's bytes, the values of a property, the draws of a
// seed and the text of a Program all become. A Tape is a setup and operations after it, each of a
// fixed size; OpDecoder makes statements of them. Every value of every field means something, so
// that any bytes at all are a tape: a block is named by its place among those that are live, other
// things modulo how many there are. Fields that a kind does not name mean nothing there.
//
// Thread safety: plain data, pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/units.h"

namespace cairn::testing {

// With a variant from 0xf8 on, the alignment, fraction or settings that are asked for cannot be.
enum class OpKind : std::uint8_t {
  alloc,           // stream, device, amount: a size code; variant % 8: alignment, dead stream
  free,            // block; variant % 8: 1 `on` other of the block's device, 2 of another, 3 size=,
                   // 4 stream=, 5 both, else plain
  launch,          // block, stream, device; amount: ticks; variant: see plan_launch()
  use,             // block, stream, device; variant % 16 = 15: a block that is freed
  order,           // stream on device, other; variant % 4 = 3: other is on the device after it
  sync,            // stream, device; variant % 4 = 3: the device
  advance,         // amount: ticks
  bad_free,        // block, other, device, amount; variant: what is wrong with it
  poll,            // device
  empty_cache,     //
  fault,           // amount: call; other: error; variant: at (bits 0 and 1), count (2 and 3); where
                   // faults may last, sticky or for ever (bits 4 to 7)
  make_stream,     // device; stream: a dead one; variant: blocking (bit 0), reuse= (bits 1 and 2)
  destroy_stream,  // stream; variant % 4 = 3: unannounced
  memory_fraction,  // device; amount % 101: hundredths
  reconfigure,      // luck: the text
  set_device,       // device
  thread_exit,      // thread
  reset             // variant % 2: peak, accumulated
};
inline constexpr std::size_t op_kind_count = 18;

// As in a Program: "alloc", "free", "launch" ...
std::string_view to_string(OpKind kind);

struct Op {
  OpKind kind = OpKind::alloc;
  std::uint8_t thread = 0;   // Which of the host threads says it, where any may.
  std::uint8_t device = 0;   // Modulo the devices.
  std::uint8_t stream = 0;   // One of those that can be named on that device.
  std::uint8_t other = 0;    // A second one.
  std::uint8_t variant = 0;  // How it is said.
  std::uint16_t block = 0;   // One of the live blocks: 0 is the oldest, 0xffff the latest.
  std::uint32_t amount = 0;  // A size code, ticks, or another number.
  std::uint32_t luck = 0;    // What is left to chance: how the rules of streams are kept.

  bool operator==(const Op&) const = default;
};
inline constexpr std::size_t op_bytes = 16;
static_assert(sizeof(Op) == op_bytes && std::is_trivially_copyable_v<Op>);

// The world, and its settings: each field picks one of a list.
struct Setup {
  std::uint8_t devices = 0;              // 1 + x % 3
  std::uint8_t most_live = 0;            // x % 64 blocks at a time; 0: 64
  std::uint8_t streams = 0;              // 3 + x % 4 streams by name at the start, and at a time
  std::uint8_t threads = 0;              // 1 + x % 4
  std::array<std::uint8_t, 3> memory{};  // By device: 16 MiB << x % 8, and (x / 8 % 8) * 2 MiB more
  std::uint8_t places = 0;          // Bits 2d and 2d + 1: adjacent, reuse_addresses of device d
  std::uint8_t switches = 0;        // See setup_switch.
  std::uint8_t blocking = 0;        // Bit i: stream i + 1 is blocking
  std::uint8_t stream_devices = 0;  // Two bits a stream, the first four: its device
  std::uint8_t split = 0;           // Settings, here and below: x % n of a list, 0 is none
  std::uint8_t rounding = 0;
  std::uint8_t large_segment = 0;
  std::uint8_t divisions = 0;
  std::uint8_t threshold = 0;
  std::uint8_t fraction = 0;
  // 0: none at the start; else of device x % devices, large if bit 7 is set.
  std::uint8_t segment = 0;
  std::array<std::uint8_t, 6> unused{};

  bool operator==(const Setup&) const = default;
};
inline constexpr std::size_t setup_bytes = 24;
static_assert(sizeof(Setup) == setup_bytes && std::is_trivially_copyable_v<Setup>);

namespace setup_switch {
inline constexpr std::uint8_t tie_by_address = 1;
inline constexpr std::uint8_t release_lock = 2;
inline constexpr std::uint8_t identity = 4;
inline constexpr std::uint8_t rejects = 8;
inline constexpr std::uint8_t lost_devices = 16;     // Faults may be sticky, or last.
inline constexpr std::uint8_t default_streams = 32;  // Work on s0 and ptds as well.
inline constexpr std::uint8_t pytorch_defects = 64;
}  // namespace setup_switch

struct Tape {
  Setup setup;
  std::vector<Op> ops;

  bool operator==(const Tape&) const = default;
};

// Any bytes: missing ones of the setup are 0, an operation that is not whole is left out.
Tape tape_of(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> bytes_of(const Tape& tape);

// A size as an operation's amount: a power of two (6 bits), and its distance (26 bits, signed) in
// bytes or, if the lowest of these is set, in units of 512 bytes. So a small change of the code
// leads to a size nearby or across a border. Sums wrap at 2^64.
Bytes size_of(std::uint32_t code);
// The code of that size, or of one near it: exact below 32 MiB, within 16 MiB of a power of two,
// and for multiples of 512 below 32 GiB; less than 512 bytes away within 8 GiB of a power of two.
std::uint32_t size_code(Bytes size);

}  // namespace cairn::testing
