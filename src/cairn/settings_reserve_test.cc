// expandable_segments_reserve and its amounts by class.
#include <gtest/gtest.h>

#include <string>

#include "cairn/options.h"

namespace cairn {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

Reserve fraction(double of_memory) { return {Reserve::Kind::fraction, of_memory, 0}; }
Reserve bytes(std::uint64_t count) { return {Reserve::Kind::bytes, 0.0, count}; }

ParsedSettings reserve(const std::string& amount, const Options& before = {}) {
  return parse_settings("expandable_segments_reserve:" + amount, before);
}
ParsedSettings by_class(const std::string& list, const Options& before = {}) {
  return parse_settings("expandable_segments_reserve_by_class:" + list, before);
}

TEST(SettingsReserve, IsAFractionOrGiB) {
  const auto amount = [](const char* text) {
    const auto parsed = reserve(text);
    EXPECT_TRUE(parsed.ok && parsed.warnings.empty()) << text;
    return parsed.options.expandable_segments_reserve;
  };
  EXPECT_EQ(amount("0.5"), fraction(0.5));
  EXPECT_EQ(amount("1e-3"), fraction(0.001));
  EXPECT_EQ(amount("2"), fraction(2.0));  // Capped when the device is known.
  EXPECT_EQ(amount("40G"), bytes(40 * gib));
  EXPECT_EQ(amount("0.5G"), bytes(gib / 2));
  EXPECT_EQ(amount("17179869183G"), bytes(17179869183 * gib));
  EXPECT_EQ(amount("17179869184G"), bytes(Options::unlimited));
  EXPECT_EQ(amount("1e20G"), bytes(Options::unlimited));
}

TEST(SettingsReserve, ABadAmountIsAWarningAndChangesNothing) {
  const Options before = reserve("0.5").options;
  for (const std::string bad : {"abc", "G", "-1", "0", "0.0", "0G", "-1G", "nan", "inf", "infG",
                                "1e400", "1e400G", "12X", "4GG", "40g", "1e-20G", "+1", "0x1"}) {
    SCOPED_TRACE(bad);
    const auto parsed = reserve(bad + ",best_fit_tie:address", before);
    ASSERT_TRUE(parsed.ok);
    ASSERT_EQ(parsed.warnings.size(), 1u);
    EXPECT_NE(parsed.warnings[0].find("key \"expandable_segments_reserve\": found \"" + bad +
                                      "\" at position 28, ignored: expected a fraction"),
              std::string::npos);
    EXPECT_EQ(parsed.options.expandable_segments_reserve, fraction(0.5));
    EXPECT_EQ(parsed.options.best_fit_tie, BestFitTie::address);
  }
}

TEST(SettingsReserve, WhatIsNoWordIsAnError) {
  for (const char* bad : {"", ",", ":", "[0.5]", "]", "0.5:1"}) {
    const auto parsed = reserve(bad);
    EXPECT_FALSE(parsed.ok) << bad;
    EXPECT_EQ(parsed.error.key, "expandable_segments_reserve");
  }
}

TEST(SettingsReserve, EachClassHasItsOwn) {
  const auto parsed = by_class("[serving:0.25,ads_sparse:8G],expandable_segments_reserve:0.9");
  ASSERT_TRUE(parsed.ok) << parsed.error.message;
  EXPECT_TRUE(parsed.warnings.empty());
  EXPECT_EQ(parsed.options.expandable_segments_reserve, fraction(0.9));
  const decltype(Options::expandable_segments_reserve_by_class) expected = {
      {"serving", fraction(0.25)}, {"ads_sparse", bytes(8 * gib)}};
  EXPECT_EQ(parsed.options.expandable_segments_reserve_by_class, expected);
}

TEST(SettingsReserve, ABadClassIsLeftOutWithAWarning) {
  const auto parsed = by_class("[serving:0.25,bad:12X,worse:0]");
  ASSERT_TRUE(parsed.ok);
  ASSERT_EQ(parsed.warnings.size(), 2u);
  EXPECT_NE(parsed.warnings[0].find("\"12X\" at position 55"), std::string::npos);
  ASSERT_EQ(parsed.options.expandable_segments_reserve_by_class.size(), 1u);
  EXPECT_EQ(parsed.options.expandable_segments_reserve_by_class[0].first, "serving");
}

TEST(SettingsReserve, OfOneClassTheLastWins) {
  const auto classes =
      by_class("[a:0.25,b:1G,a:0.5,a:bad]").options.expandable_segments_reserve_by_class;
  ASSERT_EQ(classes.size(), 2u);
  EXPECT_EQ(classes[0].first, "a");
  EXPECT_EQ(classes[0].second, fraction(0.5));
  EXPECT_EQ(classes[1].second, bytes(gib));
}

TEST(SettingsReserve, ALaterListReplacesAllClasses) {
  const Options before = by_class("[a:0.25,b:1G]").options;
  const auto one = by_class("[c:0.5]", before).options.expandable_segments_reserve_by_class;
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].first, "c");
  EXPECT_TRUE(by_class("[]", before).options.expandable_segments_reserve_by_class.empty());
  EXPECT_EQ(parse_settings("", before).options.expandable_segments_reserve_by_class.size(), 2u);
}

TEST(SettingsReserve, AMalformedListIsAnError) {
  for (const char* bad : {"", "0.5", "a:0.5", "[", "[a", "[a]", "[a:", "[a:]", "[:0.5]", "[a:0.5",
                          "[a:0.5,]", "[a:0.5]]", "[a:0.5]x", "[[a:0.5]]", "[a:[0.5]]"}) {
    const auto parsed = by_class(bad);
    EXPECT_FALSE(parsed.ok) << bad;
    EXPECT_EQ(parsed.error.key, "expandable_segments_reserve_by_class");
  }
}

}  // namespace
}  // namespace cairn
