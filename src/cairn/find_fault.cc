#include <bit>
#include <cmath>
#include <string>

#include "cairn/options.h"

namespace cairn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t granularity_bytes = 512;
constexpr unsigned most_register_threads = 128;

std::string at_least(const char* option, std::uint64_t value, std::uint64_t least) {
  if (value >= least) return {};
  return std::string(option) + " is " + std::to_string(value) + "; it must be at least " +
         std::to_string(least) + ", which is large_segment_size_bytes";
}

std::string find_fault_of_sizes(const Options& options) {
  const std::uint64_t large_segment = options.large_segment_size_bytes;
  if (large_segment <= 10 * mib || large_segment % granularity_bytes != 0) {
    return "large_segment_size_bytes is " + std::to_string(large_segment) +
           "; it must be above 10 MiB and a multiple of 512";
  }
  std::string fault = at_least("max_split_size_bytes", options.max_split_size_bytes, large_segment);
  if (!fault.empty()) return fault;
  fault =
      at_least("max_non_split_rounding_bytes", options.max_non_split_rounding_bytes, large_segment);
  if (!fault.empty()) return fault;
  for (const std::uint64_t divisions : options.roundup_power2_divisions) {
    if (divisions == 0 || std::has_single_bit(divisions)) continue;
    return "roundup_power2_divisions has " + std::to_string(divisions) +
           "; each must be a power of two, or 0";
  }
  return {};
}

// Written so that NaN is a fault.
std::string find_fault_of_fractions(const Options& options) {
  if (!(options.garbage_collection_threshold >= 0 && options.garbage_collection_threshold < 1)) {
    return "garbage_collection_threshold is " +
           std::to_string(options.garbage_collection_threshold) +
           "; it must be 0 (off) or between 0 and 1";
  }
  if (!(options.per_process_memory_fraction >= 0 && options.per_process_memory_fraction <= 1)) {
    return "per_process_memory_fraction is " + std::to_string(options.per_process_memory_fraction) +
           "; it must be from 0 to 1";
  }
  return {};
}

std::string find_fault_of_reserve(const std::string& option, const Reserve& reserve) {
  if (reserve.kind == Reserve::Kind::fraction &&
      !(std::isfinite(reserve.fraction) && reserve.fraction > 0)) {
    return option + " is the fraction " + std::to_string(reserve.fraction) +
           "; it must be above 0 and finite";
  }
  if (reserve.kind == Reserve::Kind::bytes && reserve.bytes == 0) {
    return option + " is 0 bytes; it must be above 0";
  }
  return {};
}

std::string find_fault_of_reserves(const Options& options) {
  std::string fault =
      find_fault_of_reserve("expandable_segments_reserve", options.expandable_segments_reserve);
  for (const auto& [name, reserve] : options.expandable_segments_reserve_by_class) {
    if (!fault.empty()) return fault;
    fault = find_fault_of_reserve("expandable_segments_reserve_by_class of " + name, reserve);
  }
  return fault;
}

std::string find_fault_of_pinned(const Options& options) {
  const unsigned threads = options.pinned_num_register_threads;
  if (std::has_single_bit(threads) && threads <= most_register_threads) return {};
  return "pinned_num_register_threads is " + std::to_string(threads) +
         "; it must be a power of two from 1 to " + std::to_string(most_register_threads);
}

}  // namespace

std::string find_fault(const Options& options) {
  for (const auto find : {find_fault_of_sizes, find_fault_of_fractions, find_fault_of_reserves,
                          find_fault_of_pinned}) {
    std::string fault = find(options);
    if (!fault.empty()) return fault;
  }
  return {};
}

}  // namespace cairn
