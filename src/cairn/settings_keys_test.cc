// Each key: what it takes and sets, each bound on both sides, and whether a later parse keeps it.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "cairn/options.h"

namespace cairn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

struct Good {
  const char* text;
  std::function<void(Options&)> set;
};

struct Bad {
  const char* key;
  const char* allowed;
  std::vector<const char*> values;
};

template <class Member>
std::function<void(Options&)> sets(Member Options::* member, Member value) {
  return [=](Options& options) { options.*member = value; };
}

std::function<void(Options&)> sets_roundup(std::uint64_t value) {
  return [=](Options& options) { options.roundup_power2_divisions.fill(value); };
}

const std::vector<Good> good_values = {
    {"max_split_size_mb:20", sets(&Options::max_split_size_bytes, 20 * mib)},
    {"max_split_size_mb:0021", sets(&Options::max_split_size_bytes, 21 * mib)},
    {"max_split_size_mb:17592186044415",
     sets(&Options::max_split_size_bytes, 17592186044415 * mib)},
    {"max_split_size_mb:17592186044416",
     sets(&Options::max_split_size_bytes, 17592186044415 * mib)},
    {"max_split_size_mb:18446744073709551615",
     sets(&Options::max_split_size_bytes, 17592186044415 * mib)},
    {"max_non_split_rounding_mb:20", sets(&Options::max_non_split_rounding_bytes, 20 * mib)},
    {"max_non_split_rounding_mb:17592186044415",
     sets(&Options::max_non_split_rounding_bytes, 17592186044415 * mib)},
    {"garbage_collection_threshold:0.8", sets(&Options::garbage_collection_threshold, 0.8)},
    {"garbage_collection_threshold:8e-1", sets(&Options::garbage_collection_threshold, 0.8)},
    {"garbage_collection_threshold:.5", sets(&Options::garbage_collection_threshold, 0.5)},
    {"garbage_collection_threshold:0.000001",
     sets(&Options::garbage_collection_threshold, 0.000001)},
    {"garbage_collection_threshold:0.999999",
     sets(&Options::garbage_collection_threshold, 0.999999)},
    {"roundup_power2_divisions:1", sets_roundup(1)},
    {"roundup_power2_divisions:4", sets_roundup(4)},
    {"expandable_segments:True", sets(&Options::expandable_segments, true)},
    {"expandable_segments:False", sets(&Options::expandable_segments, false)},
    {"backend:native", sets(&Options::backend, Backend::native)},
    {"backend:cudaMallocAsync", sets(&Options::backend, Backend::cuda_malloc_async)},
    {"release_lock_on_cudamalloc:True", sets(&Options::release_lock_on_cudamalloc, true)},
    {"release_lock_on_hipmalloc:True", sets(&Options::release_lock_on_cudamalloc, true)},
    {"per_process_memory_fraction:0", sets(&Options::per_process_memory_fraction, 0.0)},
    {"per_process_memory_fraction:0.25", sets(&Options::per_process_memory_fraction, 0.25)},
    {"per_process_memory_fraction:1.0", sets(&Options::per_process_memory_fraction, 1.0)},
    {"throw_on_cudamalloc_oom:True", sets(&Options::throw_on_cudamalloc_oom, true)},
    {"graph_capture_record_stream_reuse:True",
     sets(&Options::graph_capture_record_stream_reuse, true)},
    {"pinned_use_cuda_host_register:True", sets(&Options::pinned_use_cuda_host_register, true)},
    {"pinned_use_hip_host_register:True", sets(&Options::pinned_use_cuda_host_register, true)},
    {"pinned_num_register_threads:1", sets(&Options::pinned_num_register_threads, 1u)},
    {"pinned_num_register_threads:2", sets(&Options::pinned_num_register_threads, 2u)},
    {"pinned_num_register_threads:128", sets(&Options::pinned_num_register_threads, 128u)},
    {"pinned_reserve_segment_size_mb:1", sets(&Options::pinned_reserve_segment_size_bytes, mib)},
    {"pinned_free_catch_all:True", sets(&Options::pinned_free_catch_all, true)},
    {"pinned_use_background_threads:True", sets(&Options::pinned_use_background_threads, true)},
    {"pinned_max_round_threshold_mb:0",
     sets(&Options::pinned_max_round_threshold_bytes, std::uint64_t{0})},
    {"pinned_max_round_threshold_mb:64",
     sets(&Options::pinned_max_round_threshold_bytes, 64 * mib)},
    {"pinned_max_cached_size_mb:64", sets(&Options::pinned_max_cached_size_bytes, 64 * mib)},
    {"best_fit_tie:segment", sets(&Options::best_fit_tie, BestFitTie::segment)},
    {"best_fit_tie:address", sets(&Options::best_fit_tie, BestFitTie::address)},
    {"stream_identity:handle", sets(&Options::stream_identity, StreamIdentity::handle)},
    {"stream_identity:id", sets(&Options::stream_identity, StreamIdentity::id)},
    {"pytorch_defects:True", sets(&Options::pytorch_defects, true)},
};

// A large segment also moves the default of max_non_split_rounding.
std::function<void(Options&)> sets_large_segment(std::uint64_t bytes) {
  return [=](Options& options) {
    options.large_segment_size_bytes = bytes;
    options.max_non_split_rounding_bytes = bytes;
  };
}

#define FLAG_VALUES {"true", "false", "TRUE", "1", "0", "yes", "True1", "Tru", "FalseTrue"}
#define NO_NUMBERS \
  "", "+30", "-30", "0x20", "30.0", "3e1", "30x", "x", "18446744073709551616", "30_"
#define NO_DECIMALS \
  "+0.5", "-0.5", "-0", "0.5x", "x", "0.5.1", "0x1p-1", "nan", "inf", "1e-", "5e", "e1", "."

const std::vector<Bad> bad_values = {
    {"max_split_size_mb", "from 20 to 18446744073709551615", {"0", "19", NO_NUMBERS}},
    {"max_non_split_rounding_mb",
     "from 20 to 17592186044415",
     {"19", "17592186044416", NO_NUMBERS}},
    {"large_segment_size_mb",
     "from 11 to 17592186044415",
     {"0", "10", "17592186044416", NO_NUMBERS}},
    {"garbage_collection_threshold",
     "above 0 and below 1",
     {"0", "0.0", "1", "1.0", "1.5", "1e400", "1e-400", NO_DECIMALS}},
    {"per_process_memory_fraction", "from 0 to 1", {"1.000001", "2", "1e400", NO_DECIMALS}},
    {"roundup_power2_divisions", "a power of two", {"0", "3", "6", NO_NUMBERS}},
    {"pinned_num_register_threads",
     "from 1 to 128 that is a power of two",
     {"0", "3", "127", "129", "256", "4294967297", NO_NUMBERS}},
    {"pinned_reserve_segment_size_mb", "from 1 to", {"0", "17592186044416", NO_NUMBERS}},
    {"pinned_max_round_threshold_mb", "from 0 to", {"17592186044416", NO_NUMBERS}},
    {"pinned_max_cached_size_mb", "from 0 to", {"17592186044416", NO_NUMBERS}},
    {"backend", "native or cudaMallocAsync", {"Native", "cudamallocasync", "x", ""}},
    {"best_fit_tie", "segment or address", {"Segment", "x", ""}},
    {"stream_identity", "handle or id", {"ID", "x", ""}},
    {"expandable_segments", "True or False", FLAG_VALUES},
    {"release_lock_on_cudamalloc", "True or False", FLAG_VALUES},
    {"release_lock_on_hipmalloc", "True or False", FLAG_VALUES},
    {"throw_on_cudamalloc_oom", "True or False", FLAG_VALUES},
    {"graph_capture_record_stream_reuse", "True or False", FLAG_VALUES},
    {"pinned_use_cuda_host_register", "True or False", FLAG_VALUES},
    {"pinned_use_hip_host_register", "True or False", FLAG_VALUES},
    {"pinned_free_catch_all", "True or False", FLAG_VALUES},
    {"pinned_use_background_threads", "True or False", FLAG_VALUES},
    {"pytorch_defects", "True or False", FLAG_VALUES},
};

TEST(SettingsKeys, AGoodValueSetsItsMemberAndNothingElse) {
  for (const Good& good : good_values) {
    SCOPED_TRACE(good.text);
    Options expected;
    good.set(expected);
    const auto parsed = parse_settings(good.text);
    ASSERT_TRUE(parsed.ok) << parsed.error.message;
    EXPECT_EQ(parsed.options, expected);
    const bool lacks_limit = parsed.options.garbage_collection_threshold > 0;
    EXPECT_EQ(parsed.warnings.size(), lacks_limit ? 1u : 0u);
  }
}

TEST(SettingsKeys, ABadValueIsNamedWithItsPlaceAndWhatIsAllowed) {
  for (const Bad& bad : bad_values) {
    for (const char* value : bad.values) {
      const std::string text = "backend:native," + std::string(bad.key) + ":" + value;
      SCOPED_TRACE(text);
      const auto parsed = parse_settings(text);
      ASSERT_FALSE(parsed.ok);
      EXPECT_EQ(parsed.error.key, bad.key);
      EXPECT_EQ(parsed.error.value, value);
      EXPECT_EQ(parsed.error.position, text.size() - std::string(value).size());
      EXPECT_NE(parsed.error.allowed.find(bad.allowed), std::string::npos) << parsed.error.allowed;
      EXPECT_EQ(parsed.options, Options{});
    }
  }
}

TEST(SettingsKeys, ALargeSegmentMovesTheDefaultOfNonSplitRounding) {
  for (const std::uint64_t size_mib : {11u, 20u, 25u, 1024u}) {
    Options expected;
    sets_large_segment(size_mib * mib)(expected);
    const auto parsed = parse_settings("large_segment_size_mb:" + std::to_string(size_mib));
    ASSERT_TRUE(parsed.ok) << parsed.error.message;
    EXPECT_EQ(parsed.options, expected);
  }
}

TEST(SettingsKeys, ALargeSegmentBoundsOtherKeysWhereverItStands) {
  for (const char* key : {"max_split_size_mb:", "max_non_split_rounding_mb:"}) {
    SCOPED_TRACE(key);
    const auto both = [&](const char* value, const char* large) {
      const std::string other = key + std::string(value);
      const std::string large_key = "large_segment_size_mb:" + std::string(large);
      const bool before = parse_settings(other + "," + large_key).ok;
      const bool after = parse_settings(large_key + "," + other).ok;
      EXPECT_EQ(before, after);
      return before;
    };
    EXPECT_FALSE(both("20", "25"));
    EXPECT_FALSE(both("24", "25"));
    EXPECT_TRUE(both("25", "25"));
    EXPECT_TRUE(both("11", "11"));
    EXPECT_FALSE(both("10", "11"));
  }
  const auto refused = parse_settings("max_split_size_mb:20,large_segment_size_mb:25");
  EXPECT_EQ(refused.error.key, "max_split_size_mb");
  EXPECT_EQ(refused.error.position, 18u);
  EXPECT_NE(refused.error.allowed.find("from 25"), std::string::npos);
}

TEST(SettingsKeys, OfTwoLargeSegmentsTheLastBounds) {
  EXPECT_TRUE(
      parse_settings("large_segment_size_mb:40,max_split_size_mb:25,large_segment_size_mb:25").ok);
  EXPECT_FALSE(
      parse_settings("large_segment_size_mb:25,max_split_size_mb:25,large_segment_size_mb:40").ok);
  EXPECT_FALSE(parse_settings("large_segment_size_mb:5,large_segment_size_mb:25").ok);
}

TEST(SettingsKeys, ALargeSegmentIsFoundBehindListsAndUnknownKeys) {
  const char* const text =
      "max_split_size_mb:12,roundup_power2_divisions:[1:2,>:4],nope:[[]],large_segment_size_mb:12";
  const auto parsed = parse_settings(text, {}, SettingsDialect::pytorch);
  ASSERT_TRUE(parsed.ok) << parsed.error.message;
  EXPECT_EQ(parsed.options.max_split_size_bytes, 12 * mib);
}

TEST(SettingsKeys, AnEarlierLargeSegmentBoundsALaterParse) {
  const Options before = parse_settings("large_segment_size_mb:40").options;
  EXPECT_FALSE(parse_settings("max_split_size_mb:39", before).ok);
  EXPECT_TRUE(parse_settings("max_split_size_mb:40", before).ok);
  EXPECT_EQ(parse_settings("", before).options.max_non_split_rounding_bytes, 40 * mib);

  Options odd;  // Set in code, to what is no whole number of MiB.
  odd.large_segment_size_bytes = 20 * mib + 512;
  EXPECT_FALSE(parse_settings("max_split_size_mb:20", odd).ok);
  EXPECT_TRUE(parse_settings("max_split_size_mb:21", odd).ok);
}

TEST(SettingsKeys, FourKeysGoBackToTheirDefaultsAtEachParse) {
  for (const char* text : {"max_split_size_mb:64", "max_non_split_rounding_mb:64",
                           "roundup_power2_divisions:4", "garbage_collection_threshold:0.5"}) {
    SCOPED_TRACE(text);
    const Options before = parse_settings(text).options;
    EXPECT_NE(before, Options{});
    EXPECT_EQ(parse_settings("", before).options, Options{});
    EXPECT_EQ(parse_settings("backend:native,", before).options, Options{});
  }
}

TEST(SettingsKeys, AllOtherKeysKeepTheirLastValue) {
  for (const char* text :
       {"large_segment_size_mb:40", "expandable_segments:True", "backend:cudaMallocAsync",
        "release_lock_on_cudamalloc:True", "per_process_memory_fraction:0.5",
        "throw_on_cudamalloc_oom:True", "graph_capture_record_stream_reuse:True",
        "expandable_segments_reserve:0.5", "expandable_segments_reserve_by_class:[a:0.5]",
        "pinned_use_cuda_host_register:True", "pinned_num_register_threads:8",
        "pinned_reserve_segment_size_mb:8", "pinned_free_catch_all:True",
        "pinned_use_background_threads:True", "pinned_max_round_threshold_mb:8",
        "pinned_max_cached_size_mb:8", "best_fit_tie:address", "stream_identity:id",
        "pytorch_defects:True"}) {
    SCOPED_TRACE(text);
    const Options before = parse_settings(text).options;
    EXPECT_NE(before, Options{});
    EXPECT_EQ(parse_settings("", before).options, before);
    const Options after = parse_settings("max_split_size_mb:64", before).options;
    EXPECT_EQ(parse_settings("", after).options, before);
  }
}

TEST(SettingsKeys, AnotherBackendIgnoresNativeKeysWithOneWarning) {
  const auto warnings = [](std::string_view text, const Options& before = {}) {
    const auto parsed = parse_settings(text, before);
    EXPECT_TRUE(parsed.ok) << parsed.error.message;
    return parsed.warnings;
  };
  const auto both = warnings(
      "max_split_size_mb:64,backend:cudaMallocAsync,expandable_segments:True,max_split_size_mb:32");
  ASSERT_EQ(both.size(), 1u);
  EXPECT_NE(both[0].find("ignores expandable_segments, max_split_size_mb"), std::string::npos);
  EXPECT_EQ(warnings("backend:cudaMallocAsync,best_fit_tie:address").size(), 1u);
  EXPECT_TRUE(warnings("backend:cudaMallocAsync").empty());
  EXPECT_TRUE(warnings("backend:cudaMallocAsync,per_process_memory_fraction:0.5").empty());
  EXPECT_TRUE(warnings("backend:cudaMallocAsync,pinned_free_catch_all:True").empty());
  EXPECT_TRUE(warnings("backend:native,max_split_size_mb:64").empty());
  EXPECT_TRUE(warnings("backend:cudaMallocAsync,max_split_size_mb:64,backend:native").empty());
  const Options async = parse_settings("backend:cudaMallocAsync").options;
  EXPECT_EQ(warnings("max_split_size_mb:64", async).size(), 1u);
}

TEST(SettingsKeys, AThresholdWithoutAMemoryLimitIsOneWarning) {
  const auto warnings = [](std::string_view text, const Options& before = {}) {
    return parse_settings(text, before, SettingsDialect::pytorch).warnings;
  };
  const auto told = warnings("garbage_collection_threshold:0.8");
  ASSERT_EQ(told.size(), 1u);
  EXPECT_NE(told[0].find("has no effect until a memory fraction is set"), std::string::npos);
  EXPECT_TRUE(warnings("garbage_collection_threshold:0.8,per_process_memory_fraction:0.9").empty());
  EXPECT_TRUE(warnings("per_process_memory_fraction:0,garbage_collection_threshold:0.8").empty());
  const Options limited = parse_settings("per_process_memory_fraction:0.5").options;
  EXPECT_TRUE(warnings("garbage_collection_threshold:0.8", limited).empty());
  EXPECT_EQ(
      warnings("garbage_collection_threshold:0.8,per_process_memory_fraction:1", limited).size(),
      1u);
  EXPECT_EQ(warnings("garbage_collection_threshold:0.8,backend:cudaMallocAsync").size(), 1u);
}

}  // namespace
}  // namespace cairn
