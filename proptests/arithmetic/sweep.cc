#include "sweep.h"

#include <algorithm>
#include <array>
#include <bit>
#include <initializer_list>
#include <utility>

#include "cairn/options.h"
#include "heap/free_index.h"
#include "heap/size_policy.h"
#include "invariants/model/sizes.h"

namespace cairn::arithmetic {
namespace {

using namespace literals;

constexpr std::uint64_t unit = 512;
constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
constexpr int last_doubling = 59;  // Requests are below 2^60.
constexpr std::uint64_t many_jumps = 256;

using Divisions = std::array<std::uint64_t, 16>;

constexpr std::uint64_t power(int k) { return std::uint64_t{1} << k; }

class Check {
 public:
  explicit Check(std::string function) { swept_.function = std::move(function); }

  void begin(std::string setting) {
    ++swept_.settings;
    setting_ = std::move(setting);
  }
  void same(std::uint64_t input, std::uint64_t found, std::uint64_t expected) {
    ++swept_.inputs;
    if (found != expected) [[unlikely]]
      note(input, found, expected);
  }
  Swept result() { return std::move(swept_); }

 private:
  void note(std::uint64_t input, std::uint64_t found, std::uint64_t expected) {
    if (swept_.wrong++ > 0) return;
    swept_.first_wrong = swept_.function + " of " + std::to_string(input) + " with " + setting_ +
                         " is " + std::to_string(found) + ", and should be " +
                         std::to_string(expected);
  }

  Swept swept_;
  std::string setting_;
};

// Calls visit(lowest, highest) for every stretch of 512 bytes in (low, high], or for the first and
// the last one alone.
template <class Visit>
void stretches(std::uint64_t low, std::uint64_t high, bool all, Visit visit) {
  visit(low + 1, low + unit);
  if (high - low == unit) return;
  if (all) {
    for (std::uint64_t at = low + unit; at + unit < high; at += unit) visit(at + 1, at + unit);
  }
  visit(high - unit + 1, high);
}

// Which of `count` jumps of a doubling to look at where not all are.
bool is_looked_at(std::uint64_t jump, std::uint64_t count) {
  return count <= many_jumps || jump < 64 || count - jump <= 64 ||
         (jump > count / 2 - 64 && jump < count / 2 + 64);
}
std::uint64_t next_looked_at(std::uint64_t jump, std::uint64_t count) {
  while (jump < count && !is_looked_at(jump, count)) {
    jump = jump < count / 2 ? count / 2 - 63 : count - 64;
  }
  return jump;
}

// ---- rounding ----

// Requests above 2^k and up to 2^(k+1) are rounded up in steps of this many bytes from 2^k on.
std::uint64_t step_between_powers(int k, std::uint64_t divisions) {
  if (divisions <= 1) return unit;
  if (divisions >= power(55)) {  // 512 times it is 0: no request is too small to be divided.
    return power(k) < divisions ? power(k) : unit;
  }
  for (int halvings = 0; halvings <= k - 9; ++halvings) {
    if (power(halvings) == divisions) return power(k - halvings);
  }
  return unit;  // Parts of the doubling would be below 512 bytes.
}

void rounding_of(const Divisions& divisions, Range range, Check& check) {
  Options options;
  options.roundup_power2_divisions = divisions;
  const SizePolicy policy(options);
  const auto round = [&](std::uint64_t n) { return policy.round({n}).count; };
  for (std::uint64_t n = 1; n <= unit; ++n) check.same(n, round(n), unit);
  for (int k = 9; k <= last_doubling; ++k) {
    const auto entry = static_cast<std::size_t>(std::clamp(k - 20, 0, 15));
    const std::uint64_t step = step_between_powers(k, divisions[entry]);
    const std::uint64_t jumps = power(k) / step;
    const bool all = k < range.every_step_below;
    for (std::uint64_t jump = 0; jump < jumps; ++jump) {
      if (!all && (jump = next_looked_at(jump, jumps)) >= jumps) break;
      const std::uint64_t low = power(k) + jump * step;
      const std::uint64_t high = low + step;
      // The next doubling may have other divisions, and its first request is a power of two.
      stretches(low, high, all, [&](std::uint64_t lowest, std::uint64_t highest) {
        check.same(lowest, round(lowest), high);
        check.same(highest - 1, round(highest - 1), high);
        check.same(highest, round(highest), high);
      });
      if (!all || jumps <= many_jumps) {
        check.same(high, model::rounded_size({high}, options).count, high);
        check.same(low + 1, model::rounded_size({low + 1}, options).count, high);
      }
    }
  }
}

// Every byte where all bytes are few.
void rounding_of_each_byte(std::uint64_t divisions, Check& check) {
  Options options;
  options.roundup_power2_divisions.fill(divisions);
  const SizePolicy policy(options);
  std::uint64_t high = unit;
  for (std::uint64_t n = 1; n <= 4 * mebi; ++n) {
    if (n > high)
      high += step_between_powers(static_cast<int>(std::bit_width(n - 1)) - 1, divisions);
    check.same(n, policy.round({n}).count, high);
  }
}

}  // namespace

Swept rounding(Range range) {
  Check check("round");
  const bool is_whole = range.every_step_below > near_range.every_step_below;
  for (int k = -1; k < 64; ++k) {
    const std::uint64_t divisions = k < 0 ? 0 : power(k);
    Divisions all{};
    all.fill(divisions);
    check.begin(std::to_string(divisions) + " divisions");
    // The same steps as with one division less or more: near is enough.
    const bool is_new = k <= 8 || k == 27 || k >= 62 || k == 55;
    rounding_of(all, is_whole && !is_new ? near_range : range, check);
    if (is_new) rounding_of_each_byte(divisions, check);
  }
  for (std::size_t first = 0; first < 16; ++first) {
    Divisions mixed{};
    for (int k = 0; k < 16; ++k) {
      const std::size_t entry = (first + 5 * static_cast<std::size_t>(k)) % 16;
      mixed[entry] = k == 0 ? 0 : power(k - 1);
    }
    check.begin("mixed divisions " + std::to_string(first));
    rounding_of(mixed, first == 0 ? range : near_range, check);
  }
  return check.result();
}

Swept pools(Range range) {
  Check check("pool_of");
  check.begin("any settings");
  const std::uint64_t end = power(range.every_step_below);
  for (std::uint64_t size = unit; size <= end; size += unit) {
    const std::uint64_t large = size <= 2048 * unit ? 0 : 1;
    check.same(size, SizePolicy::pool_of({size}) == PoolKind::large, large);
    check.same(size, model::pool_of({size}) == PoolKind::large, large);
  }
  return check.result();
}

Swept segment_sizes(Range range) {
  Check check("segment_size");
  for (const std::uint64_t large : {11U, 12U, 20U, 21U, 36U, 1024U}) {
    Options options;
    options.large_segment_size_bytes = large * mebi;
    const SizePolicy policy(options);
    check.begin("large_segment_size_mb:" + std::to_string(large));
    std::uint64_t own = 10 * mebi;  // The smallest multiple of 2 MiB that holds `size`.
    const auto at = [&](std::uint64_t size) {
      if (size > own) own += 2 * mebi;
      const std::uint64_t expected = size <= mebi       ? 2 * mebi
                                     : size < 10 * mebi ? large * mebi
                                                        : own;
      check.same(size, policy.segment_size({size}).count, expected);
      check.same(size, model::segment_size({size}, options).count, expected);
    };
    const std::uint64_t end = power(large == 20 ? range.every_step_below : 27);
    for (std::uint64_t size = unit; size <= end; size += unit) at(size);
    for (int k = range.every_step_below; k <= last_doubling; ++k) {
      for (const std::uint64_t size : {power(k), power(k) + unit, power(k) + 2 * mebi}) {
        own = size == power(k) ? power(k) : power(k) + 2 * mebi;
        at(size);
      }
    }
  }
  return check.result();
}

namespace {

SizePolicy with_limits(std::uint64_t max_split, std::uint64_t non_split, Options& options) {
  options.max_split_size_bytes = max_split;
  options.max_non_split_rounding_bytes = non_split;
  return SizePolicy(options);
}

std::string in_words(std::uint64_t max_split, std::uint64_t non_split) {
  return "max_split_size " + std::to_string(max_split) + ", max_non_split_rounding " +
         std::to_string(non_split);
}

// Both sides of what decides, and what is far from it.
std::vector<std::uint64_t> around(std::initializer_list<std::uint64_t> borders) {
  std::vector<std::uint64_t> sizes;
  for (const std::uint64_t border : borders) {
    if (border == Options::unlimited) continue;
    for (std::uint64_t k = 0; k < 7; ++k) sizes.push_back(border + unit * k - 3 * unit);
  }
  return sizes;
}

struct Split {
  std::uint64_t rounded;
  std::uint64_t rest;
};

void split_at(Split split, const SizePolicy& policy, const Options& options, Check& check) {
  const bool is_small = split.rounded < mebi + unit;
  // How much must be left: a unit; a unit above 1 MiB; more than there can be.
  const std::uint64_t least = is_small                                        ? unit
                              : split.rounded >= options.max_split_size_bytes ? Options::unlimited
                                                                              : mebi + unit;
  const PoolKind kind = is_small ? PoolKind::small : PoolKind::large;
  const bool expected = split.rest >= least;
  check.same(split.rest, policy.splits(kind, {split.rounded}, {split.rest}), expected);
  check.same(split.rest, model::splits_off({split.rounded}, {split.rest}, options), expected);
}

}  // namespace

Swept splits() {
  Check check("splits");
  for (const std::uint64_t max_split : {Options::unlimited, 20 * mebi, 21 * mebi, 64 * mebi}) {
    Options options;
    const SizePolicy policy = with_limits(max_split, 20 * mebi, options);
    check.begin(in_words(max_split, 20 * mebi));
    for (std::uint64_t rounded = unit; rounded <= mebi; rounded += unit) {
      for (std::uint64_t rest = 0; rest <= 2 * mebi - rounded; rest += unit) {
        split_at({rounded, rest}, policy, options, check);
      }
    }
    for (std::uint64_t size = mebi + unit; size <= 128 * mebi; size += unit) {
      for (const std::uint64_t rest : around({3 * unit, mebi})) {
        split_at({size, rest}, policy, options, check);
      }
      for (const std::uint64_t rounded : around({mebi + 4 * unit, 10 * mebi, max_split})) {
        split_at({rounded, size - mebi - unit}, policy, options, check);
      }
    }
  }
  return check.result();
}

Swept oversize() {
  Check check("may_serve");
  for (const std::uint64_t max_split : {Options::unlimited, 20 * mebi, 64 * mebi}) {
    for (const std::uint64_t over : {20 * mebi, 21 * mebi, 32 * mebi}) {
      Options options;
      const SizePolicy policy = with_limits(max_split, over, options);
      check.begin(in_words(max_split, over));
      for (const std::uint64_t rounded : around({2 * mebi, max_split, 100 * mebi})) {
        // The first size of a block that does not serve.
        const std::uint64_t end = rounded >= max_split ? rounded + over : max_split;
        for (std::uint64_t size = rounded; size <= 140 * mebi; size += unit) {
          check.same(size, policy.may_serve({rounded}, {size}), size < end);
        }
      }
      for (std::uint64_t size = unit; size <= 128 * mebi; size += unit) {
        check.same(size, policy.is_oversize({size}), max_split <= size);
      }
    }
  }
  return check.result();
}

// Bins in order: one for each size up to 1 MiB, then 32 of the same width for each doubling, each
// with the size at which it begins.
Swept bins(Range range) {
  Check check("bin_of");
  check.begin("any settings");
  for (std::uint64_t bin = 1; bin <= 2048; ++bin) {
    check.same(bin * unit, FreeIndex::bin_of({bin * unit}), bin);
  }
  std::uint64_t bin = 2048;
  for (int k = 20; k <= last_doubling + 1; ++k) {
    const std::uint64_t width = power(k - 5);
    for (std::uint64_t part = 0; part < 32; ++part) {
      ++bin;
      const std::uint64_t before = power(k) + part * width - unit;  // The last size of the last.
      const std::uint64_t low = k == 20 && part == 0 ? mebi : before;
      stretches(low, before + width, k < range.every_step_below,
                [&](std::uint64_t, std::uint64_t size) {
                  check.same(size, FreeIndex::bin_of({size}), bin);
                });
    }
  }
  check.same(0, FreeIndex::bin_count > bin, 1);
  return check.result();
}

std::vector<Swept> sweep_all(Range range) {
  return {rounding(range), pools(range), segment_sizes(range), splits(), oversize(), bins(range)};
}

}  // namespace cairn::arithmetic
