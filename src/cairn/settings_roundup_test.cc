// roundup_power2_divisions as a list.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "cairn/options.h"

namespace cairn {
namespace {

using Divisions = std::array<std::uint64_t, 16>;

ParsedSettings parse(const std::string& list) {
  return parse_settings("roundup_power2_divisions:" + list);
}

Divisions divisions_of(const std::string& list) {
  const auto parsed = parse(list);
  EXPECT_TRUE(parsed.ok) << list << ": " << parsed.error.message;
  return parsed.options.roundup_power2_divisions;
}

TEST(SettingsRoundup, TheFirstFillsBelowTheRestFillsAboveAndGapsAreOff) {
  // Entry k is 2^k MiB: 64 MiB is entry 6, 1024 MiB entry 10, 4096 MiB entry 12.
  EXPECT_EQ(divisions_of("[128:8,256:16,512:1,2048:8,>:2]"),
            (Divisions{8, 8, 8, 8, 8, 8, 8, 8, 16, 1, 0, 8, 2, 2, 2, 2}));
  EXPECT_EQ(divisions_of("[64:8,128:2,256:4,512:2,1024:4,>:1]"),
            (Divisions{8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1}));
}

TEST(SettingsRoundup, WithoutARestWhatIsAboveIsOff) {
  EXPECT_EQ(divisions_of("[1:4]"), (Divisions{4}));
  EXPECT_EQ(divisions_of("[4:2]"), (Divisions{2, 2, 2}));
  EXPECT_EQ(divisions_of("[2:8,8:0]"), (Divisions{8, 8, 0, 0}));
}

TEST(SettingsRoundup, IntervalsAboveTheLastEntryShareIt) {
  Divisions all;
  all.fill(4);
  EXPECT_EQ(divisions_of("[32768:4]"), all);
  EXPECT_EQ(divisions_of("[65536:4]"), all);
  EXPECT_EQ(divisions_of("[9223372036854775808:4]"), all);
  EXPECT_EQ(divisions_of("[32768:4,>:8]"), all);  // Nothing is left above.
  EXPECT_EQ(divisions_of("[16384:4,>:8]")[15], 8u);
  EXPECT_EQ(divisions_of("[16384:4,>:8]")[14], 4u);
}

TEST(SettingsRoundup, PairsAreTakenInTheirOrder) {
  EXPECT_EQ(divisions_of("[2:8,>:4,4:2]"),
            (Divisions{8, 8, 2, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(divisions_of("[4:8,2:4]"), (Divisions{8, 4, 8}));
  EXPECT_EQ(divisions_of("[4:8,4:2]"), (Divisions{8, 8, 2}));
}

TEST(SettingsRoundup, ALaterListReplacesAnEarlierOneWhole) {
  EXPECT_EQ(parse("[1:4,>:8],roundup_power2_divisions:[2:2]").options.roundup_power2_divisions,
            (Divisions{2, 2}));
}

TEST(SettingsRoundup, ABadListIsRefusedAtTheVeryPlace) {
  struct Bad {
    const char* list;
    const char* value;
    std::size_t offset;  // In the list.
    const char* allowed;
  };
  const Bad lists[] = {
      {"[64:3]", "3", 4, "a power of two, or 0"},
      {"[64:8,128:x]", "x", 10, "a power of two, or 0"},
      {"[64:-1]", "-1", 4, "a power of two, or 0"},
      {"[63:8]", "63", 1, "interval"},
      {"[0:8]", "0", 1, "interval"},
      {"[<:8]", "<", 1, "interval"},
      {"[64:8,100:2]", "100", 6, "interval"},
      {"[64:8,18446744073709551616:2]", "18446744073709551616", 6, "interval"},
      {"[>:8]", ">", 1, "a named interval before '>'"},
      {"[]", "[", 0, "at least one"},
      {"[", "", 1, "a name"},
      {"[64", "", 3, "':'"},
      {"[64:", "", 4, "a value"},
      {"[64:]", "]", 4, "a value"},
      {"[64:8", "", 5, "',' or ']'"},
      {"[64:8,", "", 6, "a name"},
      {"[64:8,]", "]", 6, "a name"},
      {"[64:8,,128:8]", ",", 6, "a name"},
      {"[,64:8]", ",", 1, "a name"},
      {"[64,8]", ",", 3, "':'"},
      {"[64:8:8]", ":", 5, "',' or ']'"},
      {"[64:8[", "[", 5, "',' or ']'"},
      {"[[64:8]]", "[", 1, "a name"},
      {"[64:8]]", "]", 6, "','"},
      {"[64:8]128", "128", 6, "','"},
      {"]", "]", 0, "a power of two"},
  };
  for (const Bad& bad : lists) {
    SCOPED_TRACE(bad.list);
    const auto parsed = parse(bad.list);
    ASSERT_FALSE(parsed.ok);
    EXPECT_EQ(parsed.error.key, "roundup_power2_divisions");
    EXPECT_EQ(parsed.error.value, bad.value);
    EXPECT_EQ(parsed.error.position, std::string("roundup_power2_divisions:").size() + bad.offset);
    EXPECT_NE(parsed.error.allowed.find(bad.allowed), std::string::npos) << parsed.error.allowed;
  }
}

}  // namespace
}  // namespace cairn
