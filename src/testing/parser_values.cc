// What single words say: numbers, sizes, addresses, names.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/decimal.h"
#include "testing/parser_line.h"

namespace cairn::testing {
namespace {

constexpr std::uint64_t granularity_bytes = 512;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

// Digits of any number, as long as the value fits.
std::optional<std::uint64_t> to_number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

struct Unit {
  std::string_view name;
  int doublings;
};
constexpr auto units = std::to_array<Unit>({{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"", 0}});

// whole.fraction doubled once, exactly; `fraction` is a row of decimal digits. False on overflow.
bool double_decimal(std::uint64_t& whole, std::string& fraction) {
  int carry = 0;
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    const int twice = 2 * (*digit - '0') + carry;
    *digit = static_cast<char>('0' + twice % 10);
    carry = twice / 10;
  }
  if (whole > (std::numeric_limits<std::uint64_t>::max() - 1) / 2) return false;
  whole = 2 * whole + static_cast<std::uint64_t>(carry);
  return true;
}

}  // namespace

std::uint64_t Line::number(Word word) {
  if (error_) return 0;
  if (!all_digits(word.text)) {
    fail(word, quoted(word.text) + " is not a number");
    return 0;
  }
  const auto value = to_number(word.text, 10);
  if (!value) fail(word, quoted(word.text) + " does not fit 64 bits");
  return value.value_or(0);
}

std::uint64_t Line::positive(Word word) {
  const std::uint64_t value = number(word);
  if (value == 0) fail(word, "counting begins at 1 here");
  return value;
}

double Line::fraction(Word word) {
  if (error_) return 0.0;
  double value = 0.0;
  const char* end = word.text.data() + word.text.size();
  const auto [stop, error] = number_from_chars(word.text.data(), end, value);
  if (error != std::errc{} || stop != end || !std::isfinite(value)) {
    fail(word, quoted(word.text) + " is not a number such as 0.5");
    return 0.0;
  }
  return value;
}

Bytes Line::size(Word word) {
  if (error_) return {};
  const auto* unit =
      std::ranges::find_if(units, [&](const Unit& u) { return word.text.ends_with(u.name); });
  const std::string_view figures = word.text.substr(0, word.text.size() - unit->name.size());
  const auto point = figures.find('.');
  const std::string_view integer = figures.substr(0, point);
  std::string decimals(point == std::string_view::npos ? "0" : figures.substr(point + 1));
  if (!all_digits(integer) || !all_digits(decimals)) {
    fail(word, quoted(word.text) + " is not a size such as 512, 1.5MiB or 80GiB");
    return {};
  }
  const auto digits_value = to_number(integer, 10);
  std::uint64_t whole = digits_value.value_or(0);
  bool fits = digits_value.has_value();
  for (int i = 0; i < unit->doublings && fits; ++i) fits = double_decimal(whole, decimals);
  if (!fits) {
    fail(word, quoted(word.text) + " does not fit 64 bits");
  } else if (std::ranges::any_of(decimals, [](char c) { return c != '0'; })) {
    fail(word, quoted(word.text) + " is not a whole number of bytes");
  }
  return {whole};
}

Address Line::address(Word word) {
  if (error_) return {};
  const bool marked = word.text.starts_with("0x") && word.text.size() > 2;
  const auto value = marked ? to_number(word.text.substr(2), 16) : std::nullopt;
  if (!value) fail(word, quoted(word.text) + " is not an address such as 0x7e0000000000");
  return {value.value_or(0)};
}

Address Line::block_address(Word word) {
  const Address value = address(word);
  if (!is_aligned(value, {granularity_bytes}))
    fail(word, quoted(word.text) + " is not a multiple of 512");
  return value;
}

Bytes Line::block_size(Word word) {
  const Bytes value = size(word);
  if (value.count == 0 || !is_multiple(value, {granularity_bytes}))
    fail(word, quoted(word.text) + " is not a positive multiple of 512");
  return value;
}

DeviceIndex Line::device(Word word) {
  const std::uint64_t value = number(word);
  if (value < static_cast<std::uint64_t>(most_devices)) return static_cast<DeviceIndex>(value);
  fail(word, "devices are numbered from 0 to " + std::to_string(most_devices - 1));
  return 0;
}

int Line::thread(Word word) {
  const std::uint64_t value = number(word);
  if (value <= static_cast<std::uint64_t>(highest_thread)) return static_cast<int>(value);
  fail(word, "threads are numbered from 0 to " + std::to_string(highest_thread));
  return 0;
}

std::string Line::any_name(Word word) {
  const auto fits = [](char c) { return is_letter(c) || is_digit(c); };
  if (word.text.empty() || is_digit(word.text.front()) || !std::ranges::all_of(word.text, fits))
    fail(word, quoted(word.text) + " is not a name");
  return std::string(word.text);
}

std::string Line::name(Word word) {
  std::string result = any_name(word);
  if (std::ranges::find(reserved_words, word.text) != reserved_words.end())
    fail(word, quoted(word.text) + " is a reserved word and names nothing of a program's own");
  return result;
}

std::string Line::stream(Word word) {
  return word.text == "s0" || word.text == "ptds" ? std::string(word.text) : name(word);
}

DriverCall Line::driver_call(Word word) {
  const auto call = driver_call_from(word.text);
  if (!call) fail(word, quoted(word.text) + " is not a kind of driver call");
  return call.value_or(DriverCall::malloc);
}

}  // namespace cairn::testing
