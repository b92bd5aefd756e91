// Files become Programs: those that are Programs, and every kind of recording that can be imported.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "testing/gzip_file.h"
#include "testing/import_result.h"

namespace cairn::tool {

enum class Format { program, snapshot, events, two_thread, rmm, map };

// "program", "snapshot", "events", "two-thread", "rmm", "map".
const char* to_string(Format format);
std::optional<Format> format_from(std::string_view name);

// What the content looks like by its first bytes; a Program where it looks like nothing else.
Format sniff(std::string_view content);

struct LoadOptions {
  std::optional<Format> format;  // None: by sniffing.
  // Of a table of events: its maps. Empty: NAME.initial.json and NAME.segments.json (also .gz) that
  // stand beside NAME.events.csv, where they do.
  std::string initial;
  std::string final;
  std::string best_fit_tie = "address";
  bool skip_unknown_frees = false;
  Bytes limit = testing::default_content_limit;  // For the content of one file, unpacked.
};

struct Loaded {
  testing::Program program;  // Each statement with the line at which it is printed, if imported.
  Format format = Format::program;
  testing::ImportReport report;  // Of a Program: empty.
};

// `-` is the standard input. The error names the file, and the place in it.
Result<Loaded, std::string> load(const std::string& path, const LoadOptions& options);

// How messages call the file: lines are those of the imported program, where it was imported.
std::string label(const std::string& path, const Loaded& loaded);

}  // namespace cairn::tool
