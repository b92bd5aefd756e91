// Any bytes as settings text, in both dialects, over defaults and over settings far from them. What
// must hold: a text that is refused changes nothing, says where and why, and is refused again; one
// that is accepted means the same when it is read a second time.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cairn/options.h"
#include "fuzz/parsing.h"

namespace {

using cairn::Options;
using cairn::ParsedSettings;
using cairn::SettingsDialect;
using cairn::fuzz::must;

Options far_from_defaults() {
  const ParsedSettings settings = cairn::parse_settings(
      "max_split_size_mb:64,roundup_power2_divisions:8,garbage_collection_threshold:0.5,"
      "expandable_segments:True,best_fit_tie:address,per_process_memory_fraction:0.25");
  must(settings.ok);
  return settings.options;
}

void check(std::string_view text, const Options& before, SettingsDialect dialect) {
  const ParsedSettings first = cairn::parse_settings(text, before, dialect);
  if (!first.ok) {
    must(first.options == before);
    must(!first.error.message.empty());
    must(first.error.position <= text.size());
    return;
  }
  must(first.error.message.empty());
  const ParsedSettings again = cairn::parse_settings(text, first.options, dialect);
  must(again.ok && again.options == first.options && again.warnings == first.warnings);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Options far = far_from_defaults();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto dialect : {SettingsDialect::cairn, SettingsDialect::pytorch}) {
    check(text, Options{}, dialect);
    check(text, far, dialect);
  }
  return 0;
}
