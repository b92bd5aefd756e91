// expandable_segments_reserve and ..._by_class. As in PyTorch, a bad amount is a warning and is
// left out.
#include <cstddef>
#include <limits>
#include <map>

#include "cairn/settings_parse.h"

namespace cairn::settings {
namespace {

constexpr std::string_view allowed_amount =
    "a fraction of the device's memory above 0, such as 0.5, or GiB, such as 40G";

std::uint64_t bytes_of(double gib) {
  const double bytes = gib * 0x1p30;
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  return bytes < 0x1p64 ? static_cast<std::uint64_t>(bytes) : most;
}

std::optional<Reserve> amount(std::string_view word) {
  const bool in_gib = !word.empty() && word.back() == 'G';
  if (in_gib) word.remove_suffix(1);
  const auto number = decimal_number(word);
  if (!number) return std::nullopt;
  Reserve reserve;
  reserve.kind = in_gib ? Reserve::Kind::bytes : Reserve::Kind::fraction;
  if (in_gib) {
    reserve.bytes = bytes_of(*number);
  } else {
    reserve.fraction = *number;
  }
  const bool is_something = reserve.bytes > 0 || reserve.fraction > 0;
  return is_something ? std::optional(reserve) : std::nullopt;
}

}  // namespace

bool read_reserve(Parse& parse) {
  const Token word = parse.in.take();
  if (word.kind != Token::Kind::word) return parse.fail(word, std::string(allowed_amount));
  if (const auto reserve = amount(word.text)) {
    parse.options.expandable_segments_reserve = *reserve;
  } else {
    parse.ignore(word, allowed_amount);
  }
  return true;
}

bool read_reserve_by_class(Parse& parse) {
  const auto pairs = read_pairs(parse);
  if (!pairs) return false;
  auto& classes = parse.options.expandable_segments_reserve_by_class;
  classes.clear();
  std::map<std::string_view, std::size_t> index_of;
  for (const Pair& pair : *pairs) {
    const auto reserve = amount(pair.value.text);
    if (!reserve) {
      parse.ignore(pair.value, allowed_amount);
      continue;
    }
    const auto [place, is_new] = index_of.try_emplace(pair.name.text, classes.size());
    if (is_new) classes.emplace_back(pair.name.text, Reserve{});
    classes[place->second].second = *reserve;
  }
  return true;
}

}  // namespace cairn::settings
