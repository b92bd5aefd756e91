#include "fuzz/running_totals.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cairn::fuzz {
namespace {

constexpr std::size_t bytes_column = 3;
constexpr std::size_t total_column = 4;
constexpr std::size_t columns = 6;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; (end = text.find(separator)) != std::string_view::npos;) {
    parts.push_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  parts.push_back(text);
  return parts;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string join(const std::vector<std::string_view>& parts, char separator) {
  std::string text;
  for (const std::string_view part : parts) text.append(part) += separator;
  text.pop_back();
  return text;
}

}  // namespace

std::string with_running_totals(std::string_view table) {
  std::string mended;
  std::optional<std::uint64_t> total;  // After the rows so far; none before the first.
  for (const std::string_view line : split(table, '\n')) {
    std::vector<std::string_view> fields = split(line, ',');
    const auto bytes = fields.size() == columns ? number_in<std::int64_t>(fields[bytes_column])
                                                : std::optional<std::int64_t>();
    std::string own;
    if (bytes) {
      total = total ? *total + static_cast<std::uint64_t>(*bytes)
                    : number_in<std::uint64_t>(fields[total_column]);
      own = std::to_string(total.value_or(0));
      if (total) fields[total_column] = own;
    }
    mended.append(join(fields, ',')) += '\n';
  }
  mended.pop_back();
  return mended;
}

}  // namespace cairn::fuzz
