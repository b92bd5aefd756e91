#include <nlohmann/json.hpp>

#include "testing/printer.h"
#include "tool/commands.h"

namespace cairn::tool {
namespace {

using Json = nlohmann::ordered_json;

void print_json(const ImportCommand& command, const Loaded& loaded, std::ostream& to) {
  const auto& report = loaded.report;
  const Json json{{"file", command.file},
                  {"format", to_string(loaded.format)},
                  {"statements", loaded.program.statements.size()},
                  {"entries", report.entries},
                  {"allocations", report.allocations},
                  {"frees", report.frees},
                  {"segments_at_start", report.segments_at_start},
                  {"skipped", report.skipped},
                  {"notes", report.notes}};
  to << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

void print_words(const ImportCommand& command, const Loaded& loaded, std::ostream& to) {
  const auto& report = loaded.report;
  to << command.file << ": " << to_string(loaded.format) << " of " << report.entries
     << " entries: " << report.allocations << " allocations, " << report.frees << " frees, "
     << report.segments_at_start << " segments at the start\n";
  for (const auto& [what, count] : report.skipped) {
    to << "  left out: " << count << ' ' << what << '\n';
  }
  for (const std::string& note : report.notes) to << "  note: " << note << '\n';
}

}  // namespace

ExitCode ImportCommand::operator()(const Console& console) const {
  std::ostream& to = output.empty() ? console.err : console.out;
  const Console reports{to, console.err, console.json, console.progress};
  const auto loaded = tool::load(file, load);
  if (!loaded) return refuse(reports, file, loaded.error());
  const std::string text = testing::print_program(loaded->program);
  if (output.empty()) {
    console.out << text;
  } else if (const auto written = testing::write_content(output, text); !written) {
    return refuse(reports, file, output + ": " + written.error());
  }
  if (console.json) {
    print_json(*this, *loaded, to);
  } else {
    print_words(*this, *loaded, to);
  }
  return ExitCode::good;
}

}  // namespace cairn::tool
