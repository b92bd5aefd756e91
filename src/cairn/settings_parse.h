// One run of parse_settings: where it reads, what it has read, and what was wrong; and the readers
// of each key's value. A reader takes its value from the text or fails, and then returns false. Not
// part of the public contract.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cairn/options.h"
#include "cairn/settings_text.h"

namespace cairn::settings {

struct Parse {
  Reader in;
  SettingsDialect dialect;
  Options options;
  std::vector<std::string> warnings;
  SettingsError error;
  std::string_view key;                     // Whose value is being read; empty between settings.
  std::set<std::string_view> unknown_keys;  // Seen so far.
  std::set<std::string_view> native_keys;   // Seen so far of those that the native backend obeys.

  bool fail(const Token& found, std::string allowed);         // Always false.
  void ignore(const Token& found, std::string_view allowed);  // A warning that goes on without it.
};

// Who obeys a key.
enum class Scope { any_backend, native_backend, native_backend_of_cairn };

struct Key {
  std::string_view name;
  Scope scope;
  // By this allocator; else it is only read, so that it is refused or of no effect.
  bool is_obeyed;
  bool (*read)(Parse&);
};

const Key* find_key(std::string_view name, SettingsDialect dialect);  // Null: unknown.
std::string obeyed_keys();  // Their names, with commas between.

inline constexpr std::string_view large_segment_key = "large_segment_size_mb";
// The size in bytes, where `word` is good as the value of that key.
std::optional<std::uint64_t> large_segment_size(std::string_view word);

bool read_roundup(Parse& parse);
bool read_reserve(Parse& parse);
bool read_reserve_by_class(Parse& parse);

struct Pair {
  Token name;
  Token value;
};
// The pairs of a list, [name:value,...] or []; nothing where it is malformed, and then it has
// failed.
std::optional<std::vector<Pair>> read_pairs(Parse& parse);

}  // namespace cairn::settings
