#include <nlohmann/json.hpp>

#include "driver/call_text.h"
#include "testing/world.h"
#include "tool/commands.h"
#include "tool/statistics.h"

namespace cairn::tool {
namespace {

using testing::RunReport;
using Json = nlohmann::ordered_json;

struct Peaks {
  std::int64_t allocated = 0;
  std::int64_t reserved = 0;
};

Peaks peaks_of(const std::vector<DeviceStats>& stats) {
  Peaks peaks;
  for (const DeviceStats& device : stats) {
    peaks.allocated += device.allocated_bytes.all.peak;
    peaks.reserved += device.reserved_bytes.all.peak;
  }
  return peaks;
}

// A driver call of the allocator, and the line of the statement at which it made it.
struct CallAt {
  int line = 0;
  std::string call;
};

class CallObserver : public testing::Observer {
 public:
  explicit CallObserver(std::vector<CallAt>& calls) : calls_(calls) {}
  std::optional<testing::Difference> after(const testing::Statement& statement,
                                           const testing::StepResult&,
                                           const testing::World& world) override {
    for (const RecordedCall& call : world.deed().calls) {
      calls_.push_back({statement.line, text_of(call)});
    }
    return std::nullopt;
  }

 private:
  std::vector<CallAt>& calls_;
};

// What one file came to.
struct Outcome {
  RunReport report;
  std::optional<std::vector<CallAt>> calls;
};

void print_json(const std::string& file, const Outcome& outcome, std::ostream& out) {
  const RunReport& report = outcome.report;
  const auto code = static_cast<ExitCode>(report.verdict);
  const Peaks peaks = peaks_of(report.stats);
  Json json{{"file", file},
            {"verdict", to_string(code)},
            {"operations", report.operations},
            {"peak_allocated", peaks.allocated},
            {"peak_reserved", peaks.reserved},
            {"notes", report.notes}};
  if (code != ExitCode::good) {
    json["line"] = report.line;
    json["column"] = report.column;
    json["statement"] = report.statement;
  }
  if (code == ExitCode::violated) {
    json["expected"] = report.expected;
    json["found"] = report.found;
  } else if (code != ExitCode::good) {
    json["why"] = report.why;
  }
  for (const DeviceStats& device : report.stats) json["statistics"].push_back(json_of(device));
  if (outcome.calls) {
    Json& calls = json["calls"] = Json::array();
    for (const auto& [line, call] : *outcome.calls) calls.push_back({line, call});
  }
  out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

std::string place(const std::string& file, const RunReport& report) {
  if (report.line == 0) return file + ": at the end";
  return file + ":" + std::to_string(report.line) + ":" + std::to_string(report.column);
}

void print_words(const std::string& file, const Outcome& outcome, const Console& console) {
  const RunReport& report = outcome.report;
  for (const auto& [line, call] : outcome.calls.value_or(std::vector<CallAt>{}))
    console.out << file << ':' << line << ": " << call << '\n';
  for (const std::string& note : report.notes) console.err << file << ": note: " << note << '\n';
  const auto code = static_cast<ExitCode>(report.verdict);
  if (code == ExitCode::good) {
    const Peaks peaks = peaks_of(report.stats);
    console.out << file << ": holds, " << report.operations << " operations, peak allocated "
                << in_words(static_cast<std::uint64_t>(peaks.allocated)) << ", peak reserved "
                << in_words(static_cast<std::uint64_t>(peaks.reserved)) << '\n';
    return;
  }
  console.err << place(file, report) << ": " << to_string(code);
  if (code != ExitCode::violated) console.err << ": " << report.why;
  console.err << '\n';
  if (!report.statement.empty()) console.err << "  " << report.statement << '\n';
  if (code != ExitCode::violated) return;
  console.err << "  expected: " << report.expected << "\n  found:    " << report.found << '\n';
}

ExitCode run_file(const std::string& file, const RunCommand& command, const Console& console) {
  const auto loaded = load(file, command.load);
  if (!loaded) return refuse(console, file, loaded.error());
  Progress progress(console, file, loaded->program.statements.size());
  testing::RunOptions run_options;
  run_options.progress = [&progress](std::uint64_t steps) { progress.reached(steps); };
  Outcome outcome;
  if (command.with_calls) {
    auto& calls = outcome.calls.emplace();
    run_options.world.make_observer = [&calls] { return std::make_unique<CallObserver>(calls); };
  }
  outcome.report = testing::run(loaded->program, run_options);
  if (console.json) {
    print_json(file, outcome, console.out);
  } else {
    print_words(label(file, *loaded), outcome, console);
  }
  return static_cast<ExitCode>(outcome.report.verdict);
}

}  // namespace

ExitCode RunCommand::operator()(const Console& console) const {
  ExitCode code = ExitCode::good;
  for (const std::string& file : files) code = worst(code, run_file(file, *this, console));
  return code;
}

}  // namespace cairn::tool
