#include <algorithm>
#include <filesystem>
#include <iomanip>
#include <nlohmann/json.hpp>

#include "tool/commands.h"
#include "tool/picture.h"
#include "tool/replay_machine.h"
#include "tool/whole_file.h"

namespace cairn::tool {
namespace {

using Json = nlohmann::ordered_json;

struct Summary {
  std::string file;
  std::size_t operations = 0;
  std::vector<double> nanoseconds;  // By operation, one for each repetition, the fastest first.
  ReplayFigures figures;            // But for the time the same in each repetition.
  std::map<std::string, std::uint64_t> skipped;

  double fastest() const { return nanoseconds.front(); }
  double median() const { return nanoseconds[nanoseconds.size() / 2]; }
};

// 0 where there is nothing to be fragmented.
double missing_part(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 1.0 - static_cast<double>(part) / static_cast<double>(whole);
}
double fragmentation_at_peak(const ReplayFigures& figures) {
  return missing_part(figures.peak_allocated, figures.peak_reserved);
}
double fragmentation_of_free(const ReplayFigures& figures) {
  return missing_part(figures.largest_free, figures.total_free);
}

std::map<std::string, std::uint64_t> calls_by_name(const ReplayFigures& figures) {
  std::map<std::string, std::uint64_t> calls;
  for (int i = 0; i < driver_call_count; ++i) {
    const std::uint64_t count = figures.calls[static_cast<std::size_t>(i)];
    if (count > 0) calls[std::string(to_string(static_cast<DriverCall>(i)))] = count;
  }
  return calls;
}

std::string to_json(const Summary& summary) {
  const ReplayFigures& figures = summary.figures;
  const Json json{{"file", summary.file},
                  {"verdict", "replayed"},  // Nothing but failures and addresses was compared.
                  {"operations", summary.operations},
                  {"allocations", figures.allocations},
                  {"frees", figures.frees},
                  {"repetitions", summary.nanoseconds.size()},
                  {"fastest_ns_per_operation", summary.fastest()},
                  {"median_ns_per_operation", summary.median()},
                  {"peak_allocated", figures.peak_allocated},
                  {"peak_reserved", figures.peak_reserved},
                  {"fragmentation_at_peak", fragmentation_at_peak(figures)},
                  {"fragmentation_of_free", fragmentation_of_free(figures)},
                  {"driver_calls", calls_by_name(figures)},
                  {"skipped", summary.skipped}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void print_words(const Summary& summary, std::ostream& out) {
  const ReplayFigures& figures = summary.figures;
  out << std::fixed << std::setprecision(1);
  out << summary.file << ": " << summary.operations << " operations (" << figures.allocations
      << " allocations, " << figures.frees << " frees)\n"
      << "  time per operation   " << summary.fastest() << " ns fastest, " << summary.median()
      << " ns median of " << summary.nanoseconds.size() << " repetitions\n"
      << "  peak allocated       " << in_words(figures.peak_allocated) << '\n'
      << "  peak reserved        " << in_words(figures.peak_reserved) << '\n'
      << "  fragmentation        " << 100.0 * fragmentation_at_peak(figures)
      << " % at peak (1 - allocated / reserved), at the end "
      << 100.0 * fragmentation_of_free(figures) << " % (1 - largest free block / all free)\n"
      << "  driver calls        ";
  for (const auto& [name, count] : calls_by_name(figures)) out << ' ' << name << ' ' << count;
  out << '\n';
  for (const auto& [what, count] : summary.skipped) {
    out << "  left out             " << count << ' ' << what << '\n';
  }
}

ExitCode refuse_replay(const Console& console, const std::string& file,
                       const ReplayRefusal& refusal) {
  const std::string line = refusal.line > 0 ? ":" + std::to_string(refusal.line) : "";
  return refuse(console, file, file + line + ": " + refusal.why, refusal.code);
}

// Records in a run of its own, so that what was measured is the allocator alone.
ExitCode write_picture(const ReplayPlan& plan, const Summary& summary, const ReplayCommand& command,
                       const Console& console) {
  const auto recording = record(plan);
  if (!recording) return refuse_replay(console, summary.file, recording.error());
  const std::string page = picture_page(plan, *recording, to_json(summary));
  if (const auto written = replace_file(*command.html, page); !written) {
    console.err << written.error() << '\n';  // The figures are printed already.
    return ExitCode::bad_input;
  }
  if (!console.json) console.out << "  picture              " << *command.html << '\n';
  return ExitCode::good;
}

// Why there cannot be a picture; empty where there can.
std::string obstacle_to_picture(const ReplayCommand& command) {
  if (command.files.size() != 1) return "--html makes the page of one FILE, not of several";
  std::error_code ignored;
  if (std::filesystem::equivalent(command.files.front(), *command.html, ignored)) {
    return *command.html + ": cannot be written: it is what is to be replayed";
  }
  const auto writable = can_replace_file(*command.html);
  return writable ? "" : writable.error();
}

ExitCode replay_file(const std::string& file, const ReplayCommand& command,
                     const Console& console) {
  const auto loaded = load(file, command.load);
  if (!loaded) return refuse(console, file, loaded.error());
  const auto plan = plan_replay(loaded->program);
  if (!plan) return refuse_replay(console, label(file, *loaded), plan.error());
  Summary summary{file, plan->operations.size(), {}, {}, plan->skipped};
  Progress progress(console, file, static_cast<std::uint64_t>(command.repetitions));
  for (int i = 0; i < command.repetitions; ++i) {
    progress.reached(static_cast<std::uint64_t>(i));
    const auto figures = replay(*plan);
    if (!figures) return refuse_replay(console, label(file, *loaded), figures.error());
    summary.figures = *figures;
    const auto total = static_cast<double>(figures->time.count());
    const auto count = static_cast<double>(std::max<std::size_t>(summary.operations, 1));
    summary.nanoseconds.push_back(total / count);
  }
  std::sort(summary.nanoseconds.begin(), summary.nanoseconds.end());
  if (console.json) {
    console.out << to_json(summary) << '\n';
  } else {
    print_words(summary, console.out);
  }
  return command.html ? write_picture(*plan, summary, command, console) : ExitCode::good;
}

}  // namespace

ExitCode ReplayCommand::operator()(const Console& console) const {
  if (html) {
    const std::string why = obstacle_to_picture(*this);
    if (!why.empty()) return refuse(console, files.front(), why);
  }
  ExitCode code = ExitCode::good;
  for (const std::string& file : files) code = worst(code, replay_file(file, *this, console));
  return code;
}

}  // namespace cairn::tool
