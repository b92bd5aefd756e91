// How sizes are decided under the native policy: what a request is rounded to, which pool serves
// it, how large a segment is asked of the driver, and when a block is split. Pure arithmetic.
// Source: PyTorch's CUDA caching allocator; the numbers stand in README.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/options.h"
#include "heap/block.h"

namespace cairn {

inline constexpr Bytes small_request_limit{std::uint64_t{1} << 20};
inline constexpr Bytes small_segment_size{std::uint64_t{2} << 20};
inline constexpr Bytes own_segment_limit{std::uint64_t{10} << 20};  // From here a segment each.
inline constexpr Bytes segment_granularity{std::uint64_t{2} << 20};
inline constexpr Bytes request_limit{std::uint64_t{1} << 60};  // Requests are below this.

class SizePolicy {
 public:
  explicit SizePolicy(const Options& options);

  // The size of the block that serves a request. REQUIRES: requested < request_limit.
  Bytes round(Bytes requested) const {
    if (rounds_to_divisions_) return round_to_divisions(requested);
    return round_to_granularity(requested);
  }

  static PoolKind pool_of(Bytes rounded) {
    return rounded <= small_request_limit ? PoolKind::small : PoolKind::large;
  }

  Bytes segment_size(Bytes rounded) const;

  // Whether what is left of a block after `rounded` bytes becomes a block of its own.
  bool splits(PoolKind pool, Bytes rounded, Bytes remainder) const {
    if (pool == PoolKind::small) return remainder >= block_granularity;
    return rounded < max_split_size_ && remainder > small_request_limit;
  }

  // Whether a free block of this size, which is large enough, may serve the request (the oversize
  // rules).
  bool may_serve(Bytes rounded, Bytes block_size) const {
    if (rounded < max_split_size_) return block_size < max_split_size_;
    return block_size - rounded < max_non_split_rounding_;
  }

  bool limits_splits() const { return max_split_size_.count != Options::unlimited; }
  bool is_oversize(Bytes size) const { return size >= max_split_size_; }
  Bytes max_split_size() const { return max_split_size_; }

 private:
  static Bytes round_to_granularity(Bytes requested) {
    return std::max(block_granularity, round_up(requested, block_granularity));
  }
  Bytes round_to_divisions(Bytes requested) const;

  std::array<std::uint64_t, 16> divisions_;
  bool rounds_to_divisions_;
  Bytes max_split_size_;
  Bytes max_non_split_rounding_;
  Bytes large_segment_size_;
};

}  // namespace cairn
