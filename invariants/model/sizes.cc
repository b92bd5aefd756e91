#include "invariants/model/sizes.h"

#include <cstddef>
#include <cstdint>

namespace cairn::model {
namespace {

using namespace literals;

constexpr Bytes smallest_block = 512_B;
constexpr Bytes largest_small_request = 1_MiB;
constexpr Bytes small_segment = 2_MiB;
constexpr Bytes own_segment_from = 10_MiB;
constexpr Bytes own_segment_step = 2_MiB;

Bytes next_multiple(Bytes size, Bytes step) {
  const Bytes over = size % step;
  return over == 0_B ? size : size - over + step;
}

Bytes largest_power_of_two_within(Bytes size) {
  Bytes power = 1_B;
  while (power <= size - power) power += power;
  return power;
}

// Entry 0 is for all below 2 MiB, each further one for twice as much, the last for all the rest.
std::uint64_t divisions_for(Bytes size, const Options& options) {
  std::size_t index = 0;
  Bytes next_from = 2_MiB;
  while (index + 1 < options.roundup_power2_divisions.size() && size >= next_from) {
    next_from += next_from;
    ++index;
  }
  return options.roundup_power2_divisions[index];
}

}  // namespace

Bytes rounded_size(Bytes request, const Options& options) {
  if (request < smallest_block) return smallest_block;
  const std::uint64_t divisions = divisions_for(request, options);
  // The product wraps to 0 from 2^55 divisions on, as it does in PyTorch; only then is a step 0.
  if (divisions <= 1 || request <= smallest_block * divisions) {
    return next_multiple(request, smallest_block);
  }
  const Bytes power = largest_power_of_two_within(request);
  if (power == request) return request;
  const Bytes step{power.count / divisions};
  return step == 0_B ? power + power
                     : next_multiple(request, step < smallest_block ? smallest_block : step);
}

PoolKind pool_of(Bytes rounded) {
  return rounded <= largest_small_request ? PoolKind::small : PoolKind::large;
}

Bytes segment_size(Bytes rounded, const Options& options) {
  if (pool_of(rounded) == PoolKind::small) return small_segment;
  if (rounded < own_segment_from) return {options.large_segment_size_bytes};
  return next_multiple(rounded, own_segment_step);
}

bool splits_off(Bytes rounded, Bytes rest, const Options& options) {
  if (pool_of(rounded) == PoolKind::small) return rest >= smallest_block;
  return rounded.count < options.max_split_size_bytes && rest > largest_small_request;
}

}  // namespace cairn::model
