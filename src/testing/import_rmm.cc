#include "testing/import_rmm.h"

#include <unordered_map>

#include "testing/csv.h"
#include "testing/import_statements.h"

namespace cairn::testing {
namespace {

enum Column : std::size_t { thread, time_of_day, action, pointer, size, stream };

constexpr std::uint64_t size_limit = std::uint64_t{1} << 60;

class LogReader {
 public:
  LogReader(std::string_view log, const RmmOptions& options)
      : reader_(log, rmm_header), options_(options) {
    imported_.program.statements.push_back(make_statement(GpuDecl{}));
  }

  ImportResult<Imported> read() {
    if (auto error = reader_.read_header()) return Failure{*error};
    while (auto row = reader_.next()) {
      ++imported_.report.entries;
      read_row(*row);
      if (row->error()) return Failure{*row->error()};
    }
    return std::move(imported_);
  }

 private:
  struct Live {
    std::string name;
    std::uint64_t size = 0;
    std::string stream;
    int thread = 0;
  };

  void skip(const char* what) { ++imported_.report.skipped[what]; }
  void read_row(CsvRow& row);
  void alloc(CsvRow& row, std::uint64_t address);
  void free(CsvRow& row, std::uint64_t address);
  int thread_of(CsvRow& row);
  std::string stream_of(CsvRow& row);

  CsvReader reader_;
  RmmOptions options_;
  Imported imported_;
  std::unordered_map<std::string_view, int> threads_;
  std::unordered_map<std::uint64_t, std::string> streams_;
  std::unordered_map<std::uint64_t, Live> live_;
};

void LogReader::read_row(CsvRow& row) {
  if (row.error()) return;
  const std::string_view what = row.text(Column::action);
  if (what == "allocate failure") return skip("allocate failure");
  if (what != "allocate" && what != "free") {
    return row.refuse_row("the action is not allocate, allocate failure or free");
  }
  const std::uint64_t address = row.pointer(Column::pointer, "Pointer");
  if (!row.error() && address == 0) return skip("null pointers");
  if (what == "allocate") {
    alloc(row, address);
  } else {
    free(row, address);
  }
}

void LogReader::alloc(CsvRow& row, std::uint64_t address) {
  const std::uint64_t bytes = row.number(Column::size, "Size");
  std::string on = stream_of(row);
  if (bytes >= size_limit) row.refuse_row("Size is " + std::to_string(bytes));
  if (live_.contains(address)) row.refuse_row("allocates a pointer that is still live");
  if (row.error()) return;
  const int by = thread_of(row);
  std::string name = "a" + std::to_string(++imported_.report.allocations);
  imported_.program.statements.push_back(make_statement(make_alloc(name, Bytes{bytes}, on), by));
  live_[address] = {std::move(name), bytes, std::move(on), by};
}

void LogReader::free(CsvRow& row, std::uint64_t address) {
  const std::uint64_t bytes = row.number(Column::size, "Size");
  std::string on = stream_of(row);
  if (row.error()) return;
  const auto found = live_.find(address);
  if (found == live_.end() && options_.skip_unknown_frees) {
    return skip("frees of what was never allocated");
  }
  if (found == live_.end()) return row.refuse_row("frees a pointer that is not live");
  const Live& live = found->second;
  if (live.size != bytes) {
    return row.refuse_row("frees " + std::to_string(bytes) + " bytes where " +
                          std::to_string(live.size) + " were allocated");
  }
  Free operation = make_free(live.name);
  const int by = thread_of(row);
  const bool same_stream = on == live.stream && (on != "ptds" || by == live.thread);
  if (!same_stream) operation.on = std::move(on);
  imported_.program.statements.push_back(make_statement(std::move(operation), by));
  live_.erase(found);
  ++imported_.report.frees;
}

int LogReader::thread_of(CsvRow& row) {
  const int next = static_cast<int>(threads_.size()) + 1;
  const int by = threads_.emplace(row.text(Column::thread), next).first->second;
  if (by > highest_thread)
    row.refuse_row("more than " + std::to_string(highest_thread) + " threads");
  return by;
}

std::string LogReader::stream_of(CsvRow& row) {
  const std::uint64_t handle = row.pointer(Column::stream, "Stream");
  if (handle <= 1) return "s0";
  if (handle == 2) return "ptds";
  std::string& name = streams_[handle];
  if (name.empty()) name = "s" + std::to_string(streams_.size());
  return name;
}

}  // namespace

ImportResult<Imported> import_rmm(std::string_view log, const RmmOptions& options) {
  return LogReader(log, options).read();
}

}  // namespace cairn::testing
