// What an importer gives: a Program and what it left out on the way, or why the recording was
// refused.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "testing/program.h"

namespace cairn::testing {

// Why a recording was refused, whole.
struct ImportError {
  // "line 12", "byte 345", "device_traces[0][17]"; empty: the recording at large.
  std::string where;
  std::string why;
};
inline std::string to_string(const ImportError& error) {
  return error.where.empty() ? error.why : error.where + ": " + error.why;
}

template <class T>
using ImportResult = Result<T, ImportError>;

struct ImportReport {
  std::uint64_t entries = 0;      // Events or rows read.
  std::uint64_t allocations = 0;  // Of the Program.
  std::uint64_t frees = 0;        // Of the Program.
  std::uint64_t segments_at_start = 0;
  std::map<std::string, std::uint64_t> skipped;  // What stands in no statement, and how often.
  std::vector<std::string> notes;                // What the Program assumes.
};

struct Imported {
  Program program;
  ImportReport report;
};

}  // namespace cairn::testing
