#include "testing/csv.h"

#include <algorithm>
#include <charconv>

namespace cairn::testing {
namespace {

constexpr std::size_t shown_characters = 40;  // Of a field or line that an error quotes.

std::string quoted(std::string_view text) {
  std::string shown(text.substr(0, shown_characters));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + shown + (text.size() > shown_characters ? "...'" : "'");
}

// No more than `most` fields, the last with all that is left, so that a hostile line costs no
// memory.
std::vector<std::string_view> split(std::string_view line, std::size_t most) {
  std::vector<std::string_view> fields;
  while (fields.size() + 1 < most) {
    const std::size_t comma = line.find(',');
    if (comma == std::string_view::npos) break;
    fields.push_back(line.substr(0, comma));
    line.remove_prefix(comma + 1);
  }
  fields.push_back(line);
  return fields;
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, int base) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value, base);
  if (code != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::uint64_t CsvRow::number(std::size_t column, std::string_view name) {
  if (error_) return 0;
  const auto value = parse_number(fields_[column]);
  if (!value) refuse(column, name, "a whole number");
  return value.value_or(0);
}

std::int64_t CsvRow::signed_number(std::size_t column, std::string_view name) {
  if (error_) return 0;
  const std::string_view text = fields_[column];
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  if (code == std::errc{} && stop == end) return value;
  refuse(column, name, "a whole number");
  return 0;
}

std::uint64_t CsvRow::pointer(std::size_t column, std::string_view name) {
  if (error_) return 0;
  std::string_view text = fields_[column];
  if (text == "(nil)") return 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto value = parse_number(text, 16);
  if (!value) refuse(column, name, "a hexadecimal number");
  return value.value_or(0);
}

void CsvRow::refuse_row(std::string why) {
  if (!error_) error_ = fault(std::move(why));
}

void CsvRow::refuse(std::size_t column, std::string_view name, std::string_view wanted) {
  refuse_row(std::string(name) + " is " + quoted(fields_[column]) + ", not " + std::string(wanted) +
             " of 64 bits");
}

std::optional<ImportError> CsvReader::read_header() {
  const auto line = next_line();
  if (line == header_) return std::nullopt;
  const std::string found = line ? quoted(*line) : "the end of the file";
  return ImportError{"line " + std::to_string(std::max(line_, std::uint64_t{1})),
                     "the header is " + found + ", not '" + std::string(header_) + "'"};
}

std::optional<CsvRow> CsvReader::next() {
  const auto line = next_line();
  if (!line) return std::nullopt;
  const auto commas = static_cast<std::size_t>(std::count(header_.begin(), header_.end(), ','));
  const std::size_t width = commas + 1;
  auto fields = split(*line, width + 1);
  const bool fits = fields.size() == width;
  fields.resize(width);
  CsvRow row(line_, std::move(fields));
  if (!fits)
    row.refuse_row("the row has not the " + std::to_string(width) + " fields of the header");
  return row;
}

std::optional<std::string_view> CsvReader::next_line() {
  while (!rest_.empty()) {
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    ++line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) return line;
  }
  return std::nullopt;
}

}  // namespace cairn::testing
