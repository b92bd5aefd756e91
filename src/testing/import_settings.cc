#include "testing/import_settings.h"

#include <algorithm>
#include <bit>
#include <sstream>
#include <string_view>
#include <vector>

namespace cairn::testing {
namespace {

using namespace cairn::literals;  // NOLINT

constexpr Bytes granularity = 512_B;
constexpr unsigned shift_of_mib = 20;

std::uint64_t divisions_of(Bytes requested, const RecordedSettings& settings) {
  const auto log2 = static_cast<unsigned>(std::bit_width(requested.count)) - 1;
  const unsigned index = log2 <= shift_of_mib ? 0 : log2 - shift_of_mib;
  return settings.roundup_power2_divisions[std::min(index, 15U)];
}

// "key:value" out of the recorded text, where it is a plain number there.
std::string copied_item(const std::string& text, std::string_view key) {
  const std::string start = std::string(key) + ":";
  const std::size_t at = text.find(start);
  if (at == std::string::npos || (at > 0 && text[at - 1] != ',')) return {};
  std::size_t end = at + start.size();
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end == at + start.size() ? std::string() : text.substr(at, end - at);
}

std::string divisions_text(const std::array<std::uint64_t, 16>& divisions) {
  std::ostringstream text;
  text << "roundup_power2_divisions:[";
  for (unsigned i = 0; i + 1 < divisions.size(); ++i) {
    text << (std::uint64_t{1} << i) << ':' << divisions[i] << ',';
  }
  text << ">:" << divisions.back() << ']';
  return text.str();
}

}  // namespace

Bytes rounded_size(Bytes requested, const RecordedSettings& settings) {
  if (requested < granularity) return granularity;
  const std::uint64_t divisions = divisions_of(requested, settings);
  const std::uint64_t granules = round_up(requested, granularity).count / granularity.count;
  if (divisions <= 1 || granules <= divisions) {
    return round_up(requested, granularity);
  }
  // At least the granularity, since the request holds more than `divisions` granules.
  const Bytes step{std::bit_floor(requested.count) / divisions};
  return round_up(requested, step);
}

std::string settings_text(const RecordedSettings& settings, const std::string& best_fit_tie) {
  std::vector<std::string> items;
  if (!best_fit_tie.empty()) items.push_back("best_fit_tie:" + best_fit_tie);
  if (settings.max_split_size) {
    items.push_back("max_split_size_mb:" +
                    std::to_string(settings.max_split_size->count >> shift_of_mib));
  }
  if (settings.garbage_collection_threshold > 0.0) {
    std::ostringstream item;
    item << "garbage_collection_threshold:" << settings.garbage_collection_threshold;
    items.push_back(item.str());
  }
  const auto& divisions = settings.roundup_power2_divisions;
  if (std::any_of(divisions.begin(), divisions.end(), [](auto d) { return d > 1; })) {
    items.push_back(divisions_text(divisions));
  }
  for (const char* key : {"max_non_split_rounding_mb", "large_segment_size_mb"}) {
    items.push_back(copied_item(settings.text, key));
  }
  std::erase(items, "");
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

}  // namespace cairn::testing
