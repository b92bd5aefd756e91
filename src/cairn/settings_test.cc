// The grammar of settings text: items, separators, unknown keys, white space, and what an error
// says.
#include "cairn/options.h"

#include <gtest/gtest.h>

#include <string>

namespace cairn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

ParsedSettings pytorch(std::string_view text) {
  return parse_settings(text, {}, SettingsDialect::pytorch);
}

// What must be told of a bad text, short enough for a table.
struct Complaint {
  const char* text;
  const char* key;
  const char* value;
  std::size_t position;
  const char* allowed;  // A part of it.
};

void expect_complaint(const ParsedSettings& parsed, const Complaint& expected) {
  SCOPED_TRACE(expected.text);
  ASSERT_FALSE(parsed.ok);
  EXPECT_EQ(parsed.error.key, expected.key);
  EXPECT_EQ(parsed.error.value, expected.value);
  EXPECT_EQ(parsed.error.position, expected.position);
  EXPECT_NE(parsed.error.allowed.find(expected.allowed), std::string::npos) << parsed.error.allowed;
  EXPECT_NE(parsed.error.message.find(parsed.error.key), std::string::npos);
  EXPECT_NE(parsed.error.message.find(parsed.error.value), std::string::npos);
  EXPECT_NE(parsed.error.message.find(parsed.error.allowed), std::string::npos);
  EXPECT_NE(parsed.error.message.find("at position " + std::to_string(expected.position)),
            std::string::npos);
}

TEST(Settings, NoTextIsNoSettings) {
  for (const char* text : {"", " ", "\t\n\v\f\r "}) {
    const auto parsed = parse_settings(text);
    EXPECT_TRUE(parsed.ok);
    EXPECT_EQ(parsed.options, Options{});
    EXPECT_TRUE(parsed.warnings.empty());
  }
}

TEST(Settings, SeveralKeysAreReadTogether) {
  const auto parsed = parse_settings("max_split_size_mb:128,expandable_segments:True");
  ASSERT_TRUE(parsed.ok) << parsed.error.message;
  EXPECT_EQ(parsed.options.max_split_size_bytes, 128 * mib);
  EXPECT_TRUE(parsed.options.expandable_segments);
  EXPECT_TRUE(parsed.warnings.empty());
}

TEST(Settings, TheLastOfTwoEqualKeysWins) {
  EXPECT_EQ(
      parse_settings("max_split_size_mb:30,max_split_size_mb:40").options.max_split_size_bytes,
      40 * mib);
  const auto judged = parse_settings("max_split_size_mb:1,max_split_size_mb:40");
  EXPECT_FALSE(judged.ok);  // But each is judged.
}

TEST(Settings, WhiteSpaceIsDroppedEvenWithinWords) {
  const auto parsed =
      parse_settings(" max_ split_size_mb\t: 1 2 8 ,\n expandable_segments : Tr ue ");
  ASSERT_TRUE(parsed.ok) << parsed.error.message;
  EXPECT_EQ(parsed.options.max_split_size_bytes, 128 * mib);
  EXPECT_TRUE(parsed.options.expandable_segments);
}

TEST(Settings, PositionsAndValuesAreThoseOfTheTextAsGiven) {
  expect_complaint(parse_settings("  max_split_size_mb :\n 1 9 , "),
                   {"white space", "max_split_size_mb", "1 9", 23, "20"});
}

TEST(Settings, OneCommaAtTheEndIsAccepted) {
  for (const char* text : {"expandable_segments:True,", "expandable_segments:True , "}) {
    EXPECT_TRUE(parse_settings(text).ok);
    EXPECT_TRUE(parse_settings(text).options.expandable_segments);
  }
}

TEST(Settings, WhatIsNotWellFormedIsRefused) {
  const char* const flag = "expandable_segments";
  const Complaint complaints[] = {
      {",", "", ",", 0, "a key"},
      {" , ", "", ",", 1, "a key"},
      {",expandable_segments:True", "", ",", 0, "a key"},
      {"expandable_segments:True,,", "", ",", 25, "a key"},
      {"expandable_segments:True,,backend:native", "", ",", 25, "a key"},
      {":True", "", ":", 0, "a key"},
      {"[", "", "[", 0, "a key"},
      {"]", "", "]", 0, "a key"},
      {"expandable_segments", flag, "", 19, "':'"},
      {"expandable_segments ", flag, "", 20, "':'"},
      {"expandable_segments,", flag, ",", 19, "':'"},
      {"expandable_segments[True]", flag, "[", 19, "':'"},
      {"expandable_segments:", flag, "", 20, "True or False"},
      {"expandable_segments:,", flag, ",", 20, "True or False"},
      {"expandable_segments::True", flag, ":", 20, "True or False"},
      {"expandable_segments:[True]", flag, "[", 20, "True or False"},
      {"expandable_segments:True:", flag, ":", 24, "','"},
      {"expandable_segments:True]", flag, "]", 24, "','"},
      {"expandable_segments:True[", flag, "[", 24, "','"},
      {"expandable_segments:True:backend:native", flag, ":", 24, "','"},
      {"expandable_segments:True;backend:native", flag, "True;backend", 20, "True or False"},
  };
  for (const Complaint& complaint : complaints) {
    expect_complaint(parse_settings(complaint.text), complaint);
    expect_complaint(pytorch(complaint.text), complaint);
  }
}

TEST(Settings, TheFirstMistakeOfTheTextIsTheOneTold) {
  const auto parsed = parse_settings("backend:x,large_segment_size_mb:5,max_split_size_mb:1,,");
  expect_complaint(parsed, {"several", "backend", "x", 8, "native or cudaMallocAsync"});
}

TEST(Settings, AnUnknownKeyIsAnErrorInOurOwnDialect) {
  const Complaint complaints[] = {
      {"max_splt:128", "max_splt", "128", 0, "max_split_size_mb, "},
      {"backend:native, nope : [a:[1,2] ] ,", "nope", "[a:[1,2] ]", 16, "best_fit_tie"},
      {"nope", "nope", "", 0, "best_fit_tie"},
      {"nope:", "nope", "", 0, "best_fit_tie"},
      {"nope:[1", "nope", "[1", 0, "best_fit_tie"},
      {"Backend:native", "Backend", "native", 0, "best_fit_tie"},
      {"expandable_segments_handle_type:posix_fd", "expandable_segments_handle_type", "posix_fd", 0,
       "best_fit_tie"},
  };
  for (const Complaint& complaint : complaints) {
    expect_complaint(parse_settings(complaint.text), complaint);
  }
}

TEST(Settings, AnUnknownKeyIsOneWarningInPyTorchsDialect) {
  const auto parsed = pytorch("nope:[1:2,[3]],new:x,nope:7,max_split_size_mb:64,");
  ASSERT_TRUE(parsed.ok) << parsed.error.message;
  EXPECT_EQ(parsed.options.max_split_size_bytes, 64 * mib);
  ASSERT_EQ(parsed.warnings.size(), 2u);
  EXPECT_NE(parsed.warnings[0].find("\"nope\" at position 0"), std::string::npos);
  EXPECT_NE(parsed.warnings[1].find("\"new\" at position 15"), std::string::npos);
}

TEST(Settings, EvenAnUnknownKeyMustBeWellFormed) {
  const Complaint complaints[] = {
      {"nope", "nope", "", 4, "':'"},       {"nope:", "nope", "", 5, "a word, or a list"},
      {"nope:,", "nope", ",", 5, "a word"}, {"nope:]", "nope", "]", 5, "a word"},
      {"nope:[[1]", "nope", "", 9, "']'"},  {"nope:a:b", "nope", ":", 6, "','"},
      {"nope:[1]]", "nope", "]", 8, "','"},
  };
  for (const Complaint& complaint : complaints) {
    expect_complaint(pytorch(complaint.text), complaint);
  }
}

TEST(Settings, OurOwnKeysAreUnknownInPyTorchsDialect) {
  for (const char* text :
       {"best_fit_tie:address", "stream_identity:id", "pytorch_defects:True", "best_fit_tie:bad"}) {
    const auto parsed = pytorch(text);
    EXPECT_TRUE(parsed.ok);
    EXPECT_EQ(parsed.options, Options{});
    EXPECT_EQ(parsed.warnings.size(), 1u);
  }
}

TEST(Settings, AnUnknownKeyIsToldTheKeysThatAreObeyed) {
  EXPECT_EQ(parse_settings("max_split_size:64").error.allowed,
            "one of max_split_size_mb, max_non_split_rounding_mb, large_segment_size_mb, "
            "garbage_collection_threshold, roundup_power2_divisions, release_lock_on_cudamalloc, "
            "per_process_memory_fraction, throw_on_cudamalloc_oom, best_fit_tie, stream_identity, "
            "pytorch_defects");
}

TEST(Settings, AFailedParseGivesBackWhatItWasGiven) {
  Options before;
  before.max_split_size_bytes = 64 * mib;
  before.large_segment_size_bytes = 32 * mib;
  before.roundup_power2_divisions.fill(4);
  before.expandable_segments = true;
  before.expandable_segments_reserve_by_class = {{"a", {Reserve::Kind::fraction, 0.5, 0}}};
  for (const char* last : {",nope:1", ",,", ",backend:x", ":", ",roundup_power2_divisions:[1:3]"}) {
    const auto parsed = parse_settings(
        "large_segment_size_mb:40,expandable_segments:False,best_fit_tie:address,"
        "expandable_segments_reserve_by_class:[]" +
            std::string(last),
        before);
    EXPECT_FALSE(parsed.ok);
    EXPECT_EQ(parsed.options, before);
  }
}

TEST(Settings, AGoodParseHasNoError) {
  const auto parsed = parse_settings("backend:native");
  EXPECT_TRUE(parsed.error.message.empty());
  EXPECT_TRUE(parsed.error.key.empty());
}

}  // namespace
}  // namespace cairn
