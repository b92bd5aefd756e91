#include "base/decimal.h"

#include <clocale>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

namespace cairn {
namespace {

// What strtod takes and std::from_chars does not: blanks and a plus before the number.
bool begins_well(const char* first, const char* last) {
  if (first == last) return false;
  if (*first == '-') ++first;
  const bool is_digit = first != last && '0' <= *first && *first <= '9';
  return is_digit || (first != last && (*first == '.' || *first == 'i' || *first == 'I' ||
                                        *first == 'n' || *first == 'N'));
}

}  // namespace

std::from_chars_result decimal_from_chars(const char* first, const char* last, double& number) {
  if (!begins_well(first, last)) return {first, std::errc::invalid_argument};
  // Up to an x, since strtod would read what follows it as hexadecimal.
  const std::string text(first, last);
  const std::string decimal = text.substr(0, text.find_first_of("xX"));
  static const locale_t c = ::newlocale(LC_ALL_MASK, "C", nullptr);
  char* stop = nullptr;
  const double value = ::strtod_l(decimal.c_str(), &stop, c);
  const std::ptrdiff_t length = stop - decimal.c_str();
  if (length == 0) return {first, std::errc::invalid_argument};
  const std::string_view read(decimal.c_str(), static_cast<std::size_t>(length));
  const bool is_named = read.find_first_of("iInN") != std::string_view::npos;
  const bool has_digit =
      read.substr(0, read.find_first_of("eE")).find_first_of("123456789") != std::string_view::npos;
  if (!is_named && (std::isinf(value) || (value == 0 && has_digit)))
    return {first + length, std::errc::result_out_of_range};
  number = value;
  return {first + length, std::errc{}};
}

}  // namespace cairn
