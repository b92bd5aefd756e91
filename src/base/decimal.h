// Numbers read from text as std::from_chars does, with standard libraries too whose own knows whole
// numbers alone (libc++ before version 20).
//
// Thread safety: pure functions.
#pragma once

#include <charconv>

namespace cairn {

// For a double, by strtod in the C locale.
std::from_chars_result decimal_from_chars(const char* first, const char* last, double& number);

// As std::from_chars(first, last, number).
template <class Number>
std::from_chars_result number_from_chars(const char* first, const char* last, Number& number) {
  if constexpr (requires { std::from_chars(first, last, number); }) {
    return std::from_chars(first, last, number);
  } else {
    return decimal_from_chars(first, last, number);
  }
}

}  // namespace cairn
