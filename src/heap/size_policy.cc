#include "heap/size_policy.h"

#include <bit>

namespace cairn {
namespace {

// Which entry of the divisions speaks for a size: 0 below 2 MiB, k for [2^k, 2^(k+1)) MiB, 15
// above.
std::size_t division_class(Bytes size) {
  const int log2 = static_cast<int>(std::bit_width(size.count)) - 1;
  return static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15));
}

}  // namespace

SizePolicy::SizePolicy(const Options& options)
    : divisions_(options.roundup_power2_divisions),
      rounds_to_divisions_(std::any_of(divisions_.begin(), divisions_.end(),
                                       [](std::uint64_t divisions) { return divisions > 1; })),
      max_split_size_{options.max_split_size_bytes},
      max_non_split_rounding_{options.max_non_split_rounding_bytes},
      large_segment_size_{options.large_segment_size_bytes} {}

Bytes SizePolicy::segment_size(Bytes rounded) const {
  if (rounded <= small_request_limit) return small_segment_size;
  if (rounded < own_segment_limit) return large_segment_size_;
  return round_up(rounded, segment_granularity);
}

Bytes SizePolicy::round_to_divisions(Bytes requested) const {
  const std::uint64_t divisions = divisions_[division_class(requested)];
  // The product wraps for 2^55 divisions and more, as PyTorch's does; then the step below is 0, or,
  // for requests above 2^55 bytes, from 1 to 16, where blocks stay multiples of 512 all the same.
  if (divisions <= 1 || requested <= block_granularity * divisions) {
    return round_to_granularity(requested);
  }
  if (requested < block_granularity) return block_granularity;
  if (is_power_of_two(requested)) return requested;
  const Bytes floor{std::bit_floor(requested.count)};
  const Bytes step{floor.count / divisions};
  return step == Bytes{0} ? floor * 2 : round_up(requested, std::max(step, block_granularity));
}

}  // namespace cairn
