#include <bit>
#include <string>

#include "cairn/options.h"

namespace cairn {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t granularity_bytes = 512;

std::string at_least(const char* option, std::uint64_t value, std::uint64_t least) {
  if (value >= least) return {};
  return std::string(option) + " is " + std::to_string(value) + "; it must be at least " +
         std::to_string(least) + ", which is large_segment_size_bytes";
}

}  // namespace

std::string find_fault(const Options& options) {
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

}  // namespace cairn
