#include "testing/import_two_thread.h"

#include <unordered_map>

#include "testing/csv.h"
#include "testing/import_statements.h"

namespace cairn::testing {
namespace {

enum Column : std::size_t { time_us, thread, address, bytes, total_allocated, total_reserved };

constexpr std::int64_t size_limit = std::int64_t{1} << 60;

struct Row {
  int thread = 0;  // From 1, in order of appearance.
  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  std::uint64_t total = 0;
  std::uint64_t line = 0;
};

// Also sees to it that each row's total is the last one's and its own bytes.
class RowReader {
 public:
  explicit RowReader(std::string_view csv) : reader_(csv, two_thread_header) {}

  ImportResult<std::vector<Row>> read() {
    std::vector<Row> rows;
    if (auto error = reader_.read_header()) return Failure{*error};
    while (auto fields = reader_.next()) {
      Row row = read_row(*fields);
      if (!rows.empty() && rows.back().total + static_cast<std::uint64_t>(row.bytes) != row.total) {
        fields->refuse_row("total_allocated is not that of the row before and this row's bytes");
      }
      if (fields->error()) return Failure{*fields->error()};
      rows.push_back(row);
    }
    return rows;
  }

 private:
  Row read_row(CsvRow& fields) {
    Row row;
    row.line = fields.line();
    const std::uint64_t tid = fields.number(Column::thread, "tid");
    row.address = fields.number(Column::address, "addr");
    row.bytes = fields.signed_number(Column::bytes, "bytes");
    row.total = fields.number(Column::total_allocated, "total_allocated");
    if (row.bytes == 0 || row.bytes >= size_limit || row.bytes <= -size_limit) {
      fields.refuse_row("bytes is " + std::to_string(row.bytes));
    }
    const int next = static_cast<int>(threads_.size()) + 1;
    row.thread = threads_.emplace(tid, next).first->second;
    if (row.thread > highest_thread) {
      fields.refuse_row("more than " + std::to_string(highest_thread) + " threads");
    }
    return row;
  }

  CsvReader reader_;
  std::unordered_map<std::uint64_t, int> threads_;
};

struct Live {
  std::string name;
  std::int64_t bytes = 0;
};
using LiveBlocks = std::unordered_map<std::uint64_t, Live>;

Bytes magnitude(std::int64_t bytes) {
  return {static_cast<std::uint64_t>(bytes < 0 ? -bytes : bytes)};
}

// Allocates what the rows free without having allocated it. Gives the bytes of it.
Bytes write_prologue(const std::vector<Row>& rows, LiveBlocks& live, Imported& imported) {
  std::unordered_map<std::uint64_t, int> depth;  // 1: allocated by a row so far.
  Bytes before{0};
  for (const Row& row : rows) {
    int& allocated = depth[row.address];
    if (row.bytes > 0) allocated = 1;
    if (row.bytes > 0) continue;
    if (allocated == 0 && !live.contains(row.address)) {
      const std::string name = "w" + std::to_string(live.size() + 1);
      imported.program.statements.push_back(
          make_statement(make_alloc(name, magnitude(row.bytes), "s0"), row.thread));
      live[row.address] = {name, -row.bytes};
      before += magnitude(row.bytes);
    }
    allocated = 0;
  }
  return before;
}

class RowWriter {
 public:
  RowWriter(LiveBlocks live, Imported& imported) : live_(std::move(live)), imported_(imported) {}

  std::optional<std::string> write(const Row& row) {
    ++imported_.report.entries;
    return row.bytes > 0 ? alloc(row) : free(row);
  }

  void expect_total(Bytes offset, std::uint64_t total) {
    Expect sum;
    sum.left = {query_term("requested"), number_term(offset.count)};
    sum.right = {number_term(total)};
    imported_.program.statements.push_back(make_statement(std::move(sum)));
  }

 private:
  std::optional<std::string> alloc(const Row& row) {
    std::string name = "a" + std::to_string(++imported_.report.allocations);
    if (!live_.try_emplace(row.address, Live{name, row.bytes}).second) {
      return "allocates an address that is still live";
    }
    imported_.program.statements.push_back(
        make_statement(make_alloc(std::move(name), magnitude(row.bytes), "s0"), row.thread));
    return std::nullopt;
  }

  std::optional<std::string> free(const Row& row) {
    const auto found = live_.find(row.address);
    if (found == live_.end()) return "frees an address for the second time";
    if (found->second.bytes != -row.bytes)
      return "frees another number of bytes than was allocated";
    imported_.program.statements.push_back(
        make_statement(make_free(found->second.name), row.thread));
    live_.erase(found);
    ++imported_.report.frees;
    return std::nullopt;
  }

  LiveBlocks live_;
  Imported& imported_;
};

}  // namespace

ImportResult<Imported> import_two_thread(std::string_view csv) {
  const auto rows = RowReader(csv).read();
  if (!rows) return Failure{rows.error()};
  Imported imported;
  imported.program.statements.push_back(make_statement(GpuDecl{}));
  if (rows->empty()) return imported;
  LiveBlocks live;
  const Bytes before = write_prologue(*rows, live, imported);
  const std::size_t blocks_before = live.size();
  const Row& first = rows->front();
  const Bytes start{first.total - static_cast<std::uint64_t>(first.bytes)};
  const bool starts_below_zero = first.bytes > 0 && magnitude(first.bytes) > Bytes{first.total};
  if (starts_below_zero || start < before) {
    return Failure{ImportError{"line " + std::to_string(first.line),
                               "total_allocated is less than what the rows allocate and free"}};
  }
  RowWriter writer(std::move(live), imported);
  for (const Row& row : *rows) {
    if (auto why = writer.write(row)) {
      return Failure{ImportError{"line " + std::to_string(row.line), *why}};
    }
    writer.expect_total(start - before, row.total);
  }
  if (blocks_before > 0) {
    imported.report.notes.push_back(std::to_string(blocks_before) +
                                    " blocks that the rows only free are allocated first");
  }
  return imported;
}

}  // namespace cairn::testing
