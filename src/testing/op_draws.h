// Operations drawn at random from a seed. Each seed has tastes of its own (swarm testing: Groce et
// al., 2012): which kinds of operation there are and how often, which sizes, how long blocks live,
// how short memory is. So long runs of one kind happen, and states that a fair mixture never comes
// to. The same seed gives the same tape, and a longer one begins with the shorter.
//
// Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "testing/dice.h"
#include "testing/op.h"

namespace cairn::testing {

class OpDraws {
 public:
  explicit OpDraws(std::uint64_t seed);

  const Setup& setup() const { return setup_; }
  Op next();

 private:
  enum class Lifetimes : std::uint8_t { any, latest_first, oldest_first, some_stay };

  OpKind draw_kind();
  Bytes draw_size();
  std::uint16_t draw_block();
  std::uint8_t draw_byte() { return static_cast<std::uint8_t>(dice_.draw()); }
  std::uint8_t draw_device();

  Dice dice_;
  std::array<std::uint64_t, op_kind_count> weights_{};
  bool is_oversize_;                // Little memory, and requests around max_split_size.
  std::uint64_t largest_exponent_;  // Of sizes that are near no border.
  Lifetimes lifetimes_;
  Setup setup_;
};

Tape draw_tape(std::uint64_t seed, std::size_t operations);

}  // namespace cairn::testing
