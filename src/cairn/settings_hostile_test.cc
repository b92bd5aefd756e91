// Whatever bytes a settings text has, it is read or refused whole, with a place inside the text.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "cairn/options.h"

namespace cairn {
namespace {

using namespace std::string_literals;

Options unusual() {
  Options options;
  options.max_split_size_bytes = 77 << 20;
  options.max_non_split_rounding_bytes = 66 << 20;
  options.large_segment_size_bytes = 44 << 20;
  options.garbage_collection_threshold = 0.25;
  options.roundup_power2_divisions.fill(8);
  options.expandable_segments_reserve_by_class = {{"x", {Reserve::Kind::fraction, 0.5, 0}}};
  options.pytorch_defects = true;
  return options;
}

bool prints(const std::string& text) {
  for (const char c : text) {
    if (c < 0x20 || c == 0x7f) return false;  // Also what is not ASCII, where char is signed.
  }
  return true;
}

// Gives back whether the text was good.
bool judge(std::string_view text) {
  bool any = false;
  for (const auto dialect : {SettingsDialect::cairn, SettingsDialect::pytorch}) {
    const Options before = unusual();
    const auto parsed = parse_settings(text, before, dialect);
    if (parsed.ok) {
      any = true;
      EXPECT_TRUE(parsed.error.message.empty());
      // What was read once is read again alike.
      EXPECT_EQ(parse_settings(text, parsed.options, dialect).options, parsed.options);
      continue;
    }
    const SettingsError& error = parsed.error;
    EXPECT_EQ(parsed.options, before);
    EXPECT_FALSE(error.allowed.empty());
    EXPECT_LE(error.position, text.size());
    EXPECT_NE(error.message.find("position " + std::to_string(error.position)), std::string::npos);
    EXPECT_NE(text.find(error.value), std::string_view::npos);
    EXPECT_LT(error.message.size(), 1500u);
    EXPECT_TRUE(prints(error.message));
    for (const std::string& warning : parsed.warnings) EXPECT_TRUE(prints(warning));
  }
  return any;
}

TEST(SettingsHostile, EmbeddedNulsAreNoEnd) {
  EXPECT_FALSE(judge("backend:native\0"s));
  EXPECT_FALSE(judge("\0"s));
  EXPECT_FALSE(judge("max_split_size_mb:12\0008"s));
  const auto parsed = parse_settings("backend:na\0tive"s);
  EXPECT_EQ(parsed.error.value, "na\0tive"s);
  EXPECT_NE(parsed.error.message.find(R"("na\x00tive")"), std::string::npos);
}

TEST(SettingsHostile, BytesThatAreNoTextAreShownAsNumbers) {
  EXPECT_FALSE(judge("backend:\xff\xfe"));
  EXPECT_FALSE(judge("\xc3\xa9:1,,"));
  const auto parsed = parse_settings("\x1b[31m:\"1\\");
  EXPECT_EQ(parsed.error.key, "\x1b");
  EXPECT_NE(parsed.error.message.find(R"("\x1b")"), std::string::npos);
  EXPECT_NE(parse_settings("backend:\"\\").error.message.find(R"("\"\\")"), std::string::npos);
}

TEST(SettingsHostile, AMegabyteOfAnythingIsReadInOneGo) {
  constexpr std::size_t megabyte = 1 << 20;
  for (const char c : {'a', ',', ':', '[', ']', ' ', '9', '\0', '\xff'})
    judge(std::string(megabyte, c));
  const std::string brackets(megabyte, '[');
  EXPECT_FALSE(judge("nope:" + brackets));
  EXPECT_FALSE(judge("roundup_power2_divisions:" + brackets));
  EXPECT_FALSE(judge("max_split_size_mb:" + std::string(megabyte, '9')));
  EXPECT_FALSE(judge("per_process_memory_fraction:" + std::string(megabyte, '9')));
  EXPECT_TRUE(judge("per_process_memory_fraction:0." + std::string(megabyte, '9')));
  EXPECT_TRUE(judge("nope:" + brackets + std::string(megabyte, ']')));  // In one dialect.
}

TEST(SettingsHostile, ManyOfAKindTakeNoLongerThanTheyAreLong) {
  std::string items;
  std::string classes = "expandable_segments_reserve_by_class:[";
  for (int i = 0; i < 50000; ++i) {
    items += "k" + std::to_string(i) + ":1,";
    classes += "k" + std::to_string(i) + ":0.5,";
  }
  classes.back() = ']';
  const auto parsed = parse_settings(items, {}, SettingsDialect::pytorch);
  EXPECT_TRUE(parsed.ok);
  EXPECT_EQ(parsed.warnings.size(), 50000u);
  EXPECT_EQ(parse_settings(classes).options.expandable_segments_reserve_by_class.size(), 50000u);
}

TEST(SettingsHostile, ALongMessageIsCutButNotTheValue) {
  const std::string value(1000, 'x');
  const auto parsed = parse_settings("backend:" + value);
  EXPECT_EQ(parsed.error.value, value);
  EXPECT_LT(parsed.error.message.size(), 200u);
  EXPECT_NE(parsed.error.message.find("xxx...\""), std::string::npos);
}

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t limit) { return engine_() % limit; }
  char byte() { return static_cast<char>(below(256)); }
  char byte_of_settings() {
    constexpr std::string_view likely = ",:[]0129.GeTrue >-_";
    return likely[below(likely.size())];
  }
  // One change: a byte put in, taken out or changed; a piece doubled, taken out, or set in from
  // another text.
  void mutate(std::string& text, std::string_view other) {
    const std::size_t at = below(text.size() + 1);
    const std::size_t length = below(12);
    switch (below(5)) {
      case 0:
        text.insert(at, 1, byte_of_settings());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.replace(at, at < text.size() ? 1 : 0, 1, below(4) == 0 ? byte() : byte_of_settings());
        break;
      case 3:
        text.insert(at, text.substr(at, length));
        break;
      default:
        text.insert(at, other.substr(below(other.size())));
        break;
    }
  }

 private:
  std::mt19937 engine_;  // Its sequence is the same everywhere, as those of distributions are not.
};

const std::vector<std::string> valid_texts = {
    "max_split_size_mb:128,max_non_split_rounding_mb:64,large_segment_size_mb:32,",
    "garbage_collection_threshold:0.8,roundup_power2_divisions:[64:8,128:2,>:1]",
    "roundup_power2_divisions:4,expandable_segments:True,backend:cudaMallocAsync",
    "release_lock_on_cudamalloc:True,per_process_memory_fraction:0.5,best_fit_tie:address",
    "expandable_segments_reserve:40G,expandable_segments_reserve_by_class:[a:0.25,b:8G]",
    "pinned_num_register_threads:8,pinned_reserve_segment_size_mb:64,stream_identity:id",
    "pinned_max_round_threshold_mb:1,pytorch_defects:False,throw_on_cudamalloc_oom:True",
};

TEST(SettingsHostile, RandomBytesAreReadOrRefused) {
  Chance chance(20240607);
  for (int round = 0; round < 20000; ++round) {
    std::string text(chance.below(40), ' ');
    for (char& c : text) c = round % 2 == 0 ? chance.byte() : chance.byte_of_settings();
    judge(text);
    if (HasFailure()) FAIL() << "round " << round;
  }
}

TEST(SettingsHostile, MutatedTextsAreReadOrRefused) {
  Chance chance(7);
  int good = 0;
  constexpr int rounds = 30000;
  for (int round = 0; round < rounds; ++round) {
    std::string text = valid_texts[chance.below(valid_texts.size())];
    const std::size_t changes = 1 + chance.below(4);
    for (std::size_t i = 0; i < changes; ++i) {
      chance.mutate(text, valid_texts[chance.below(valid_texts.size())]);
    }
    good += judge(text) ? 1 : 0;
    if (HasFailure()) FAIL() << "round " << round << ": " << text;
  }
  // Both outcomes must be met often, or nothing was tested.
  EXPECT_GT(good, rounds / 20);
  EXPECT_LT(good, rounds * 19 / 20);
}

}  // namespace
}  // namespace cairn
