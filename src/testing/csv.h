// Comma-separated rows with a header and without quotes, as allocators log them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "testing/import_result.h"

namespace cairn::testing {

// Whole text as a number, nothing left over; `0x` is not part of it.
std::optional<std::uint64_t> parse_number(std::string_view text, int base = 10);

// One row. The getters read a field by its column; the first that is not as asked for is kept in
// error(), and 0 or an empty text is given from then on.
class CsvRow {
 public:
  CsvRow(std::uint64_t line, std::vector<std::string_view> fields)
      : line_(line), fields_(std::move(fields)) {}

  std::uint64_t line() const { return line_; }
  std::string_view text(std::size_t column) const { return fields_[column]; }
  std::uint64_t number(std::size_t column, std::string_view name);
  std::int64_t signed_number(std::size_t column, std::string_view name);
  // Hexadecimal, with or without `0x`; `(nil)`, as some C libraries print it, is 0.
  std::uint64_t pointer(std::size_t column, std::string_view name);

  ImportError fault(std::string why) const {
    return {"line " + std::to_string(line_), std::move(why)};
  }
  void refuse_row(std::string why);
  const std::optional<ImportError>& error() const { return error_; }

 private:
  void refuse(std::size_t column, std::string_view name, std::string_view wanted);

  std::uint64_t line_;
  std::vector<std::string_view> fields_;
  std::optional<ImportError> error_;
};

// Goes through the rows of a text that must outlive it. Empty lines are passed over; a line may end
// in CR LF.
class CsvReader {
 public:
  CsvReader(std::string_view text, std::string_view header) : rest_(text), header_(header) {}

  // The error of the header, if it is not the one that was named. To be called first, once.
  std::optional<ImportError> read_header();
  // The next row, or nothing at the end. Its width is the header's, or it comes with an error().
  std::optional<CsvRow> next();

 private:
  std::optional<std::string_view> next_line();

  std::string_view rest_;
  std::string_view header_;
  std::uint64_t line_ = 0;
};

}  // namespace cairn::testing
