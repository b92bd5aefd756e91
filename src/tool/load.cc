#include "tool/load.h"

#include <array>
#include <filesystem>

#include "testing/import_events.h"
#include "testing/import_map.h"
#include "testing/import_rmm.h"
#include "testing/import_snapshot.h"
#include "testing/import_two_thread.h"
#include "testing/parser.h"

namespace cairn::tool {
namespace {

using testing::FileResult;
using testing::Imported;
using testing::ImportResult;

constexpr std::array<const char*, 6> format_names{"program",    "snapshot", "events",
                                                  "two-thread", "rmm",      "map"};

std::string name_of(const std::string& path) { return path == "-" ? "standard input" : path; }

// NAME.initial.json for NAME.events.csv, gzipped or not; empty where there is no such file.
std::string beside(const std::string& path, const std::string& ending) {
  const std::size_t at = path.rfind(".events.csv");
  if (at == std::string::npos) return {};
  for (const char* packed : {".gz", ""}) {
    std::string candidate = path.substr(0, at) + ending + packed;
    std::error_code ignored;
    if (std::filesystem::exists(candidate, ignored)) return candidate;
  }
  return {};
}

FileResult<std::string> read_optional(const std::string& path, Bytes limit) {
  if (path.empty()) return std::string();
  auto content = testing::read_content(path, limit);
  if (!content) return Failure{name_of(path) + ": " + content.error()};
  return content;
}

FileResult<Imported> import_events_of(const std::string& path, std::string_view events,
                                      const LoadOptions& options) {
  const auto chosen = [&path](const std::string& given, const char* ending) {
    return given.empty() ? beside(path, ending) : given;
  };
  const auto initial = read_optional(chosen(options.initial, ".initial.json"), options.limit);
  if (!initial) return Failure{initial.error()};
  const auto final = read_optional(chosen(options.final, ".segments.json"), options.limit);
  if (!final) return Failure{final.error()};
  auto imported = testing::import_events({events, *initial, *final, options.best_fit_tie});
  if (!imported) return Failure{name_of(path) + ": " + to_string(imported.error())};
  return std::move(*imported);
}

ImportResult<Imported> import_content(Format format, std::string_view content,
                                      const LoadOptions& options) {
  switch (format) {
    case Format::snapshot:
      return testing::import_snapshot(content, {options.best_fit_tie});
    case Format::two_thread:
      return testing::import_two_thread(content);
    case Format::rmm:
      return testing::import_rmm(content, {options.skip_unknown_frees});
    default:
      return testing::import_map(content);
  }
}

FileResult<Imported> import_file(Format format, const std::string& path, const std::string& content,
                                 const LoadOptions& options) {
  if (format == Format::events) return import_events_of(path, content, options);
  auto imported = import_content(format, content, options);
  if (!imported) return Failure{name_of(path) + ": " + to_string(imported.error())};
  return std::move(*imported);
}

}  // namespace

const char* to_string(Format format) { return format_names[static_cast<std::size_t>(format)]; }

std::optional<Format> format_from(std::string_view name) {
  for (std::size_t i = 0; i < format_names.size(); ++i) {
    if (name == format_names[i]) return static_cast<Format>(i);
  }
  return std::nullopt;
}

Format sniff(std::string_view content) {
  if (content.starts_with('\x80')) return Format::snapshot;
  if (content.starts_with(testing::events_header)) return Format::events;
  if (content.starts_with(testing::two_thread_header)) return Format::two_thread;
  if (content.starts_with(testing::rmm_header)) return Format::rmm;
  if (content.starts_with('{')) return Format::map;
  return Format::program;
}

std::string label(const std::string& path, const Loaded& loaded) {
  return loaded.format == Format::program ? path : path + ", imported";
}

Result<Loaded, std::string> load(const std::string& path, const LoadOptions& options) {
  const auto content = testing::read_content(path, options.limit);
  if (!content) return Failure{name_of(path) + ": " + content.error()};
  Loaded loaded;
  loaded.format = options.format.value_or(sniff(*content));
  if (loaded.format == Format::program) {
    auto program = testing::parse_program(*content);
    if (program) {
      loaded.program = std::move(*program);
      return loaded;
    }
    const auto& error = program.error();
    const bool was_guessed = !options.format && error.line == 1;
    return Failure{name_of(path) + ":" + std::to_string(error.line) + ":" +
                   std::to_string(error.column) + ": " + error.message +
                   (was_guessed ? "; nor does the file begin as a recording that is known" : "")};
  }
  auto imported = import_file(loaded.format, path, *content, options);
  if (!imported) return Failure{imported.error()};
  loaded.program = std::move((*imported).program);
  loaded.report = std::move((*imported).report);
  int line = 0;
  for (auto& statement : loaded.program.statements) {
    statement.line = ++line;
    statement.column = 1;
  }
  return loaded;
}

}  // namespace cairn::tool
