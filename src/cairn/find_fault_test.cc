// Options that are made in code meet the ranges that settings text meets, and the fault names the
// option and its range.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "cairn/options.h"

namespace cairn {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t mib = std::uint64_t{1} << 20;

struct Case {
  std::string option;
  std::function<void(Options&)> change;
};

Reserve fraction(double value) { return {Reserve::Kind::fraction, value, 0}; }
Reserve bytes(std::uint64_t value) { return {Reserve::Kind::bytes, 0.0, value}; }

TEST(FindFault, DefaultsHaveNone) { EXPECT_EQ(find_fault({}), ""); }

TEST(FindFault, EachRangeHasItsEnds) {
  const std::vector<std::function<void(Options&)>> good = {
      [](Options& o) { o.large_segment_size_bytes = 10 * mib + 512; },
      [](Options& o) { o.max_split_size_bytes = 20 * mib; },
      [](Options& o) { o.max_non_split_rounding_bytes = 20 * mib; },
      [](Options& o) { o.roundup_power2_divisions.fill(std::uint64_t{1} << 63); },
      [](Options& o) { o.garbage_collection_threshold = 0.999; },
      [](Options& o) { o.per_process_memory_fraction = 0; },
      [](Options& o) { o.pinned_num_register_threads = 128; },
      [](Options& o) { o.expandable_segments_reserve = fraction(1e-9); },
      [](Options& o) { o.expandable_segments_reserve = bytes(1); },
      [](Options& o) { o.expandable_segments_reserve_by_class = {{"a", {}}, {"b", bytes(9)}}; },
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    Options options;
    good[i](options);
    EXPECT_EQ(find_fault(options), "") << i;
  }
}

TEST(FindFault, WhatIsOutOfItsRangeIsNamed) {
  const std::vector<Case> cases = {
      {"large_segment_size_bytes", [](Options& o) { o.large_segment_size_bytes = 10 * mib; }},
      {"large_segment_size_bytes", [](Options& o) { o.large_segment_size_bytes = 11 * mib + 1; }},
      {"max_split_size_bytes", [](Options& o) { o.max_split_size_bytes = 20 * mib - 1; }},
      {"max_non_split_rounding_bytes", [](Options& o) { o.max_non_split_rounding_bytes = 0; }},
      {"roundup_power2_divisions", [](Options& o) { o.roundup_power2_divisions[15] = 3; }},
      {"garbage_collection_threshold", [](Options& o) { o.garbage_collection_threshold = 1; }},
      {"garbage_collection_threshold", [](Options& o) { o.garbage_collection_threshold = -0.1; }},
      {"garbage_collection_threshold",
       [](Options& o) { o.garbage_collection_threshold = not_a_number; }},
      {"per_process_memory_fraction", [](Options& o) { o.per_process_memory_fraction = 1.01; }},
      {"per_process_memory_fraction", [](Options& o) { o.per_process_memory_fraction = -1; }},
      {"per_process_memory_fraction",
       [](Options& o) { o.per_process_memory_fraction = not_a_number; }},
      {"per_process_memory_fraction", [](Options& o) { o.per_process_memory_fraction = infinite; }},
      {"pinned_num_register_threads", [](Options& o) { o.pinned_num_register_threads = 0; }},
      {"pinned_num_register_threads", [](Options& o) { o.pinned_num_register_threads = 24; }},
      {"pinned_num_register_threads", [](Options& o) { o.pinned_num_register_threads = 256; }},
      {"expandable_segments_reserve",
       [](Options& o) { o.expandable_segments_reserve = fraction(0); }},
      {"expandable_segments_reserve",
       [](Options& o) { o.expandable_segments_reserve = fraction(-0.5); }},
      {"expandable_segments_reserve",
       [](Options& o) { o.expandable_segments_reserve = fraction(infinite); }},
      {"expandable_segments_reserve",
       [](Options& o) { o.expandable_segments_reserve = fraction(not_a_number); }},
      {"expandable_segments_reserve", [](Options& o) { o.expandable_segments_reserve = bytes(0); }},
      {"expandable_segments_reserve_by_class of b",
       [](Options& o) {
         o.expandable_segments_reserve_by_class = {{"a", bytes(1)}, {"b", fraction(0)}};
       }},
  };
  for (const Case& one : cases) {
    Options options;
    one.change(options);
    EXPECT_EQ(find_fault(options).find(one.option), 0u)
        << one.option << ": " << find_fault(options);
  }
}

TEST(FindFault, TextNeverGivesOptionsWithOne) {
  for (const char* text :
       {"large_segment_size_mb:11,max_split_size_mb:11", "garbage_collection_threshold:0.000001",
        "per_process_memory_fraction:0", "pinned_num_register_threads:128",
        "expandable_segments_reserve:0.0000001,expandable_segments_reserve_by_class:[a:40G]",
        "expandable_segments_reserve:nan", "expandable_segments_reserve:0G"}) {
    const ParsedSettings parsed = parse_settings(text);
    ASSERT_TRUE(parsed.ok) << text;
    EXPECT_EQ(find_fault(parsed.options), "") << text;
  }
}

}  // namespace
}  // namespace cairn
