// The table of all keys, and the readers of those whose value is one word.
#include <bit>
#include <limits>

#include "cairn/settings_parse.h"

namespace cairn::settings {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;
constexpr std::uint64_t most_number = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t most_mib = most_number / mib;  // More would not fit once in bytes.
constexpr std::uint64_t least_large_segment_mib = 11;

struct Range {
  std::uint64_t least;
  std::uint64_t most;
};

bool is_in(const std::optional<std::uint64_t>& number, Range range) {
  return number && range.least <= *number && *number <= range.most;
}

std::string in_words(Range range) {
  return "a whole number from " + std::to_string(range.least) + " to " + std::to_string(range.most);
}

bool read_mib(Parse& parse, Range range, std::uint64_t& bytes) {
  const Token word = parse.in.take();
  const auto number = whole_number(word.text);
  if (!is_in(number, range)) return parse.fail(word, in_words(range) + " (MiB)");
  bytes = (*number < most_mib ? *number : most_mib) * mib;
  return true;
}

template <std::uint64_t Options::* member, std::uint64_t least>
bool read_mib_from(Parse& parse) {
  return read_mib(parse, {least, most_mib}, parse.options.*member);
}

std::uint64_t large_segment_mib(const Options& options) {
  const std::uint64_t bytes = options.large_segment_size_bytes;
  return bytes / mib + (bytes % mib != 0 ? 1 : 0);
}

bool read_max_split_size(Parse& parse) {
  // Whatever is too large is capped, as in PyTorch.
  const Range range{large_segment_mib(parse.options), most_number};
  return read_mib(parse, range, parse.options.max_split_size_bytes);
}

bool read_max_non_split_rounding(Parse& parse) {
  const Range range{large_segment_mib(parse.options), most_mib};
  return read_mib(parse, range, parse.options.max_non_split_rounding_bytes);
}

bool read_large_segment_size(Parse& parse) {
  // The last good value of the text is set before anything else is read; here each is judged alone.
  std::uint64_t judged = 0;
  return read_mib(parse, {least_large_segment_mib, most_mib}, judged);
}

bool read_garbage_collection_threshold(Parse& parse) {
  const Token word = parse.in.take();
  const auto number = decimal_number(word.text);
  if (!number || *number <= 0.0 || *number >= 1.0) {
    return parse.fail(word, "a decimal number above 0 and below 1");
  }
  parse.options.garbage_collection_threshold = *number;
  return true;
}

bool read_per_process_memory_fraction(Parse& parse) {
  const Token word = parse.in.take();
  const auto number = decimal_number(word.text);
  if (!number || *number > 1.0) return parse.fail(word, "a decimal number from 0 to 1");
  parse.options.per_process_memory_fraction = *number;
  return true;
}

bool read_pinned_num_register_threads(Parse& parse) {
  constexpr Range range{1, 128};
  const Token word = parse.in.take();
  const auto number = whole_number(word.text);
  if (!is_in(number, range) || !std::has_single_bit(*number)) {
    return parse.fail(word, in_words(range) + " that is a power of two");
  }
  parse.options.pinned_num_register_threads = static_cast<unsigned>(*number);
  return true;
}

template <class Value>
struct Choice {
  std::string_view word;
  Value value;
};

template <class Value>
bool read_choice(Parse& parse, const Choice<Value> (&choices)[2], Value& value) {
  const Token word = parse.in.take();
  for (const auto& choice : choices) {
    if (choice.word != word.text) continue;
    value = choice.value;
    return true;
  }
  return parse.fail(word, std::string(choices[0].word) + " or " + std::string(choices[1].word));
}

template <bool Options::* member>
bool read_flag(Parse& parse) {
  static constexpr Choice<bool> choices[] = {{"True", true}, {"False", false}};
  return read_choice(parse, choices, parse.options.*member);
}

bool read_backend(Parse& parse) {
  static constexpr Choice<Backend> choices[] = {{"native", Backend::native},
                                                {"cudaMallocAsync", Backend::cuda_malloc_async}};
  return read_choice(parse, choices, parse.options.backend);
}

bool read_best_fit_tie(Parse& parse) {
  static constexpr Choice<BestFitTie> choices[] = {{"segment", BestFitTie::segment},
                                                   {"address", BestFitTie::address}};
  return read_choice(parse, choices, parse.options.best_fit_tie);
}

bool read_stream_identity(Parse& parse) {
  static constexpr Choice<StreamIdentity> choices[] = {{"handle", StreamIdentity::handle},
                                                       {"id", StreamIdentity::id}};
  return read_choice(parse, choices, parse.options.stream_identity);
}

constexpr auto native = Scope::native_backend;
constexpr auto any = Scope::any_backend;
constexpr auto cairn_native = Scope::native_backend_of_cairn;
constexpr bool obeyed = true;
constexpr bool read_only = false;
using O = Options;

constexpr Key keys[] = {
    {"max_split_size_mb", native, obeyed, read_max_split_size},
    {"max_non_split_rounding_mb", native, obeyed, read_max_non_split_rounding},
    {large_segment_key, native, obeyed, read_large_segment_size},
    {"garbage_collection_threshold", native, obeyed, read_garbage_collection_threshold},
    {"roundup_power2_divisions", native, obeyed, read_roundup},
    {"expandable_segments", native, read_only, read_flag<&O::expandable_segments>},
    {"backend", any, read_only, read_backend},
    {"release_lock_on_cudamalloc", native, obeyed, read_flag<&O::release_lock_on_cudamalloc>},
    {"release_lock_on_hipmalloc", native, read_only, read_flag<&O::release_lock_on_cudamalloc>},
    {"per_process_memory_fraction", any, obeyed, read_per_process_memory_fraction},
    {"throw_on_cudamalloc_oom", native, obeyed, read_flag<&O::throw_on_cudamalloc_oom>},
    {"graph_capture_record_stream_reuse", native, read_only,
     read_flag<&O::graph_capture_record_stream_reuse>},
    {"expandable_segments_reserve", native, read_only, read_reserve},
    {"expandable_segments_reserve_by_class", native, read_only, read_reserve_by_class},
    {"pinned_use_cuda_host_register", any, read_only, read_flag<&O::pinned_use_cuda_host_register>},
    {"pinned_use_hip_host_register", any, read_only, read_flag<&O::pinned_use_cuda_host_register>},
    {"pinned_num_register_threads", any, read_only, read_pinned_num_register_threads},
    {"pinned_reserve_segment_size_mb", any, read_only,
     read_mib_from<&O::pinned_reserve_segment_size_bytes, 1>},
    {"pinned_free_catch_all", any, read_only, read_flag<&O::pinned_free_catch_all>},
    {"pinned_use_background_threads", any, read_only, read_flag<&O::pinned_use_background_threads>},
    {"pinned_max_round_threshold_mb", any, read_only,
     read_mib_from<&O::pinned_max_round_threshold_bytes, 0>},
    {"pinned_max_cached_size_mb", any, read_only,
     read_mib_from<&O::pinned_max_cached_size_bytes, 0>},
    {"best_fit_tie", cairn_native, obeyed, read_best_fit_tie},
    {"stream_identity", cairn_native, obeyed, read_stream_identity},
    {"pytorch_defects", cairn_native, obeyed, read_flag<&O::pytorch_defects>},
};

bool is_known(const Key& key, SettingsDialect dialect) {
  return dialect == SettingsDialect::cairn || key.scope != Scope::native_backend_of_cairn;
}

}  // namespace

const Key* find_key(std::string_view name, SettingsDialect dialect) {
  for (const Key& key : keys) {
    if (key.name == name) return is_known(key, dialect) ? &key : nullptr;
  }
  return nullptr;
}

std::string obeyed_keys() {
  std::string names;
  for (const Key& key : keys) {
    if (!key.is_obeyed) continue;
    if (!names.empty()) names += ", ";
    names += key.name;
  }
  return names;
}

std::optional<std::uint64_t> large_segment_size(std::string_view word) {
  const auto number = whole_number(word);
  if (!is_in(number, {least_large_segment_mib, most_mib})) return std::nullopt;
  return *number * mib;
}

}  // namespace cairn::settings
