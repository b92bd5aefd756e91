// parse_settings: text = [item {',' item} [',']], item = key ':' value, by the table of keys.
#include <cstdint>
#include <utility>

#include "cairn/options.h"
#include "cairn/settings_parse.h"

namespace cairn {
namespace settings {
namespace {

// What large_segment_size_mb will be in the end, since other keys are judged by it wherever it
// stands. Looks no further than the text is well formed: what is wrong is found again, and told,
// later.
std::uint64_t find_large_segment_size(Reader in, std::uint64_t size) {
  for (;;) {
    const Token key = in.take();
    if (key.kind != Token::Kind::word || !in.skip(Token::Kind::colon)) return size;
    if (key.text == large_segment_key) size = large_segment_size(in.peek().text).value_or(size);
    in.take_value();
    if (!in.skip(Token::Kind::comma)) return size;
  }
}

void reset_what_no_parse_keeps(Options& options) {
  const Options defaults;
  options.max_split_size_bytes = defaults.max_split_size_bytes;
  options.max_non_split_rounding_bytes = options.large_segment_size_bytes;
  options.roundup_power2_divisions = defaults.roundup_power2_divisions;
  options.garbage_collection_threshold = defaults.garbage_collection_threshold;
}

// No value there is an empty one. The key's own place is told, since the key is what is wrong.
bool refuse_unknown(Parse& parse, const Token& name) {
  const bool has_value = parse.in.skip(Token::Kind::colon);
  const Value value = has_value ? parse.in.take_value() : Value{};
  SettingsError& error = parse.error;
  error.key = name.text;
  error.value = value.written;
  error.allowed = "one of " + obeyed_keys();
  error.position = name.position;
  error.message = "settings: unknown key " + quoted(name.text) + " with value " +
                  quoted(value.written) + " at position " + std::to_string(name.position) +
                  ", expected " + error.allowed;
  return false;
}

bool skip_unknown(Parse& parse, const Token& name) {
  const Value value = parse.in.take_value();
  if (!value.is_whole) return parse.fail(parse.in.peek(), "a word, or a list with its ']'");
  if (parse.unknown_keys.insert(name.text).second) {
    parse.warnings.push_back("settings: unknown key " + quoted(name.text) + " at position " +
                             std::to_string(name.position) + ", ignored");
  }
  return true;
}

bool read_item(Parse& parse) {
  parse.key = {};
  const Token name = parse.in.take();
  if (name.kind != Token::Kind::word) return parse.fail(name, "a key");
  const Key* const key = find_key(name.text, parse.dialect);
  if (key == nullptr && parse.dialect == SettingsDialect::cairn) return refuse_unknown(parse, name);
  parse.key = name.text;
  if (!parse.in.skip(Token::Kind::colon)) {
    return parse.fail(parse.in.peek(), "':' between key and value");
  }
  if (key == nullptr) return skip_unknown(parse, name);
  if (key->scope != Scope::any_backend) parse.native_keys.insert(key->name);
  return key->read(parse);
}

bool read_all(Parse& parse) {
  while (parse.in.peek().kind != Token::Kind::end) {
    if (!read_item(parse)) return false;
    const Token after = parse.in.take();
    if (after.kind == Token::Kind::end) return true;
    if (after.kind != Token::Kind::comma) return parse.fail(after, "',' or the end of the text");
  }
  return true;
}

void warn_of_native_keys(Parse& parse) {
  if (parse.options.backend == Backend::native || parse.native_keys.empty()) return;
  std::string names;
  for (const std::string_view name : parse.native_keys) {
    if (!names.empty()) names += ", ";
    names += name;
  }
  parse.warnings.push_back("settings: backend:cudaMallocAsync ignores " + names);
}

void warn_of_threshold_without_limit(Parse& parse) {
  const Options& options = parse.options;
  if (options.backend != Backend::native || options.garbage_collection_threshold <= 0) return;
  if (options.per_process_memory_fraction < 1) return;
  parse.warnings.push_back(
      "settings: garbage_collection_threshold has no effect until a memory fraction is set");
}

}  // namespace
}  // namespace settings

ParsedSettings parse_settings(std::string_view text, const Options& before,
                              SettingsDialect dialect) {
  const settings::Text tokens(text);
  settings::Parse parse{settings::Reader(tokens), dialect, before, {}, {}, {}, {}, {}};
  parse.options.large_segment_size_bytes =
      settings::find_large_segment_size(parse.in, before.large_segment_size_bytes);
  settings::reset_what_no_parse_keeps(parse.options);

  ParsedSettings result;
  result.ok = settings::read_all(parse);
  result.options = result.ok ? parse.options : before;
  if (result.ok) {
    settings::warn_of_native_keys(parse);
    settings::warn_of_threshold_without_limit(parse);
  }
  result.warnings = std::move(parse.warnings);
  result.error = std::move(parse.error);
  return result;
}

}  // namespace cairn
