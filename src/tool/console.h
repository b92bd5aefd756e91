// What all commands share: where they write, how, and how they end.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>

namespace cairn::tool {

enum class ExitCode { good = 0, violated = 1, bad_input = 2, unsupported = 3 };

// Of two, the one that counts: in the order 2, 1, 3, 0.
ExitCode worst(ExitCode a, ExitCode b);
// "holds", "violated", "bad input", "unsupported".
const char* to_string(ExitCode code);

struct Console {
  std::ostream& out;
  std::ostream& err;
  bool json = false;      // One JSON object a line for each file, on `out`.
  bool progress = false;  // Of long work, on `err`.
};

// A file that cannot be used: what `why` says, and in JSON too where that is wanted.
ExitCode refuse(const Console& console, const std::string& file, const std::string& why,
                ExitCode code = ExitCode::bad_input);

// One line on `err` that says how far the work is, and that goes away at the end.
class Progress {
 public:
  Progress(const Console& console, std::string what, std::uint64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void reached(std::uint64_t done);

 private:
  const Console& console_;
  std::string what_;
  std::uint64_t total_;
  std::chrono::steady_clock::time_point next_;
  bool is_shown_ = false;
};

// "1.50 GiB", "512 B".
std::string in_words(std::uint64_t bytes);

}  // namespace cairn::tool
