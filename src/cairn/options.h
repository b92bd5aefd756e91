// Settings of an allocator: PyTorch's keys (PYTORCH_CUDA_ALLOC_CONF), typed, and three of our own.
// An Allocator obeys all but these: it refuses backend cuda_malloc_async, expandable_segments and
// pytorch_defects beside stream_identity id as Unsupported, and it reads and keeps
// expandable_segments_reserve, expandable_segments_reserve_by_class,
// graph_capture_record_stream_reuse and pinned_*, which change nothing yet.
//
// Functions can be called from any thread; parse_settings reads its arguments alone.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cairn/export.h"

namespace cairn {

enum class Backend { native, cuda_malloc_async };

// Which of several free blocks of equal size is taken: the one of the oldest segment, then the
// lowest address (as PyTorch does since 2026), or the lowest address alone (as it did before).
enum class BestFitTie { segment, address };

// What makes two stream handles one stream: that they are equal (as in PyTorch), or that the driver
// gives the same stream id for both.
enum class StreamIdentity { handle, id };

// Address space that an expandable segment reserves: unset, a fraction of the device's memory, or a
// number of bytes.
struct Reserve {
  enum class Kind { unset, fraction, bytes };
  Kind kind = Kind::unset;
  double fraction = 0.0;
  std::uint64_t bytes = 0;
};

CAIRN_EXPORT bool operator==(const Reserve& a, const Reserve& b);
inline bool operator!=(const Reserve& a, const Reserve& b) { return !(a == b); }

struct Options {
  static constexpr std::uint64_t unlimited = ~std::uint64_t{0};

  std::uint64_t max_split_size_bytes = unlimited;            // max_split_size_mb
  std::uint64_t max_non_split_rounding_bytes = 20ull << 20;  // max_non_split_rounding_mb
  std::uint64_t large_segment_size_bytes = 20ull << 20;      // large_segment_size_mb
  double garbage_collection_threshold = 0.0;                 // 0 is off
  // Number of divisions between two powers of two, by size: entry 0 for sizes below 2 MiB, entry k
  // for [2^k, 2^(k+1)) MiB, entry 15 for 32 GiB and above. 0 and 1 are off.
  std::array<std::uint64_t, 16> roundup_power2_divisions{};
  bool expandable_segments = false;
  Backend backend = Backend::native;
  bool release_lock_on_cudamalloc = false;
  double per_process_memory_fraction = 1.0;  // From 0 to 1.
  bool throw_on_cudamalloc_oom = false;
  bool graph_capture_record_stream_reuse = false;
  Reserve expandable_segments_reserve;
  std::vector<std::pair<std::string, Reserve>> expandable_segments_reserve_by_class;
  bool pinned_use_cuda_host_register = false;
  unsigned pinned_num_register_threads = 1;
  std::uint64_t pinned_reserve_segment_size_bytes = 0;
  bool pinned_free_catch_all = false;
  bool pinned_use_background_threads = false;
  std::uint64_t pinned_max_round_threshold_bytes = unlimited;
  std::uint64_t pinned_max_cached_size_bytes = unlimited;

  BestFitTie best_fit_tie = BestFitTie::segment;            // best_fit_tie:segment|address
  StreamIdentity stream_identity = StreamIdentity::handle;  // stream_identity:handle|id
  // pytorch_defects:True|False. What Cairn does otherwise than PyTorch on purpose is done as there,
  // such as giving memory back to the driver without a wait for the work that may still use it
  // (src/heap/README.md lists all): to see what PyTorch would do, not for use.
  bool pytorch_defects = false;
};

CAIRN_EXPORT bool operator==(const Options& a, const Options& b);
inline bool operator!=(const Options& a, const Options& b) { return !(a == b); }

// Whose variable the text is from. Cairn's own keys are accepted, and unknown keys are errors, in
// `cairn` alone; in `pytorch` an unknown key is one warning, since a newer PyTorch may know it.
enum class SettingsDialect { cairn, pytorch };

struct SettingsError {
  std::string key;
  std::string value;         // As written; empty where the key has none.
  std::string allowed;       // What would have been right, in words.
  std::size_t position = 0;  // Offset in the text, in characters from 0.
  std::string message;       // All of this in one sentence.
};

struct ParsedSettings {
  bool ok = false;
  Options options;  // Where !ok: the settings that were passed in, unchanged.
  std::vector<std::string> warnings;
  SettingsError error;  // Where !ok.
};

// Reads settings text such as "max_split_size_mb:128,expandable_segments:True" over the settings
// `before`. As in PyTorch, max_split_size_mb, max_non_split_rounding_mb, roundup_power2_divisions
// and garbage_collection_threshold go back to their defaults at every parse; all other keys keep
// what they had. One comma at the end is accepted; white space is dropped.
CAIRN_EXPORT ParsedSettings parse_settings(std::string_view text, const Options& before = {},
                                           SettingsDialect dialect = SettingsDialect::cairn);

// Reads the first variable that is set of CAIRN_ALLOC_CONF, PYTORCH_CUDA_ALLOC_CONF and
// PYTORCH_ALLOC_CONF; none set: the defaults. A SettingsError's message names the variable.
CAIRN_EXPORT ParsedSettings settings_from_environment();

// Why these options, made in code, cannot be: which is out of what range. Empty where nothing is
// wrong; parse_settings gives none that are.
CAIRN_EXPORT std::string find_fault(const Options& options);

}  // namespace cairn
