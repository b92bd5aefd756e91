#include "base/decimal.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>

namespace cairn {
namespace {

// Both end in the same place, with the same error and the same bits.
void is_as_from_chars(const std::string& text) {
  double expected = 7;
  double found = 7;
  const char* const last = text.data() + text.size();
  const auto wanted = std::from_chars(text.data(), last, expected);
  const auto got = decimal_from_chars(text.data(), last, found);
  EXPECT_EQ(got.ptr - text.data(), wanted.ptr - text.data()) << text;
  EXPECT_EQ(got.ec, wanted.ec) << text;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(found), std::bit_cast<std::uint64_t>(expected)) << text;
}

TEST(Decimal, IsReadAsFromCharsReadsIt) {
  for (const char* text : {"0",
                           "0.8",
                           ".5",
                           "5.",
                           "1e3",
                           "1e",
                           "1e+",
                           "-0",
                           "-0.25",
                           "0x10",
                           "0X1p3",
                           "1x",
                           "",
                           "-",
                           ".",
                           "+1",
                           " 1",
                           "1 ",
                           "abc",
                           "inf",
                           "-inf",
                           "infinity",
                           "1e400",
                           "-1e400",
                           "1e-400",
                           "0e-400",
                           "4.9e-324",
                           "2.2250738585072011e-308",
                           "0.1",
                           "0.30000000000000004",
                           "9007199254740993",
                           "123456789012345678901234567890",
                           "1,5",
                           "1.5,",
                           "0.5]",
                           "--1",
                           "e5"})
    is_as_from_chars(text);
}

TEST(Decimal, AnyDoubleIsReadBack) {
  std::mt19937_64 draws(1);
  for (int i = 0; i < 10000; ++i) {
    char text[64];
    std::snprintf(text, sizeof text, "%.17g", std::bit_cast<double>(draws()));
    if (std::string(text).find("nan") == std::string::npos) is_as_from_chars(text);
  }
}

TEST(Decimal, WholeNumbersAreLeftToFromChars) {
  const std::string text = "42x";
  std::uint64_t number = 0;
  const auto got = number_from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_EQ(number, 42U);
  EXPECT_EQ(*got.ptr, 'x');
}

}  // namespace
}  // namespace cairn
