#include "tool/console.h"

#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace cairn::tool {
namespace {

constexpr std::chrono::milliseconds time_between_lines{200};

int severity(ExitCode code) {
  switch (code) {
    case ExitCode::bad_input:
      return 3;
    case ExitCode::violated:
      return 2;
    case ExitCode::unsupported:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

ExitCode worst(ExitCode a, ExitCode b) { return severity(a) >= severity(b) ? a : b; }

const char* to_string(ExitCode code) {
  constexpr const char* words[] = {"holds", "violated", "bad input", "unsupported"};
  return words[static_cast<int>(code)];
}

ExitCode refuse(const Console& console, const std::string& file, const std::string& why,
                ExitCode code) {
  using Json = nlohmann::ordered_json;
  console.err << why << '\n';
  if (!console.json) return code;
  const Json json{{"file", file}, {"verdict", to_string(code)}, {"why", why}};
  console.out << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  return code;
}

Progress::Progress(const Console& console, std::string what, std::uint64_t total)
    : console_(console),
      what_(std::move(what)),
      total_(total),
      next_(std::chrono::steady_clock::now() + time_between_lines) {}

Progress::~Progress() {
  if (is_shown_) console_.err << "\r\x1b[K" << std::flush;
}

void Progress::reached(std::uint64_t done) {
  if (!console_.progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + time_between_lines;
  is_shown_ = true;
  console_.err << "\r\x1b[K" << what_ << ": " << done << " of " << total_ << std::flush;
}

std::string in_words(std::uint64_t bytes) {
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024.0 && unit + 1 < std::size(units)) {
    amount /= 1024.0;
    ++unit;
  }
  std::ostringstream text;
  text << std::fixed << std::setprecision(unit == 0 ? 0 : 2) << amount << ' ' << units[unit];
  return text.str();
}

}  // namespace cairn::tool
