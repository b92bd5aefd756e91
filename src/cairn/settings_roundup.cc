// roundup_power2_divisions: a number for all sizes, or a list from interval (MiB) to number.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "cairn/settings_parse.h"

namespace cairn::settings {
namespace {

using Divisions = decltype(Options::roundup_power2_divisions);

std::size_t index_of(std::uint64_t interval_mib) {
  std::size_t index = 0;
  while (interval_mib > 1 && index + 1 < Divisions{}.size()) {
    interval_mib >>= 1;
    ++index;
  }
  return index;
}

bool read_scalar(Parse& parse) {
  const Token word = parse.in.take();
  const auto divisions = whole_number(word.text);
  if (!divisions || !std::has_single_bit(*divisions)) {
    return parse.fail(word, "a power of two, or a list such as [256:4,512:2,>:1]");
  }
  parse.options.roundup_power2_divisions.fill(*divisions);
  return true;
}

// A list is built pair by pair: the first also fills what is below it, `>` what is above the last.
struct Intervals {
  Divisions divisions{};
  std::size_t above_last = 0;  // First entry above the last interval named; 0: none was named.

  void fill_above(std::uint64_t value) {
    std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(above_last), divisions.end(), value);
  }
  void set(std::uint64_t interval_mib, std::uint64_t value) {
    const std::size_t index = index_of(interval_mib);
    if (above_last == 0) std::fill_n(divisions.begin(), index, value);
    divisions[index] = value;
    above_last = index + 1;
  }
};

bool add(Intervals& intervals, const Pair& pair, Parse& parse) {
  const bool is_rest = pair.name.text == ">";
  const auto interval_mib = whole_number(pair.name.text);
  if (is_rest && intervals.above_last == 0) {
    return parse.fail(pair.name, "a named interval before '>'");
  }
  if (!is_rest && (!interval_mib || !std::has_single_bit(*interval_mib))) {
    return parse.fail(pair.name, "an interval that is a power of two in MiB, or '>'");
  }
  const auto value = whole_number(pair.value.text);
  if (!value || (*value != 0 && !std::has_single_bit(*value))) {
    return parse.fail(pair.value, "a power of two, or 0 for no rounding");
  }
  if (is_rest) {
    intervals.fill_above(*value);
  } else {
    intervals.set(*interval_mib, *value);
  }
  return true;
}

}  // namespace

bool read_roundup(Parse& parse) {
  const Token first = parse.in.peek();
  if (first.kind != Token::Kind::open) return read_scalar(parse);
  const auto pairs = read_pairs(parse);
  if (!pairs) return false;
  if (pairs->empty()) return parse.fail(first, "a list of at least one interval, such as [64:8]");
  Intervals intervals;
  for (const Pair& pair : *pairs) {
    if (!add(intervals, pair, parse)) return false;
  }
  parse.options.roundup_power2_divisions = intervals.divisions;
  return true;
}

}  // namespace cairn::settings
