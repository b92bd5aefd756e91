// What happens when an invariant does not hold. A checker only reports; the handler decides: the
// default prints the id and aborts (production, fuzzing), tests record and look after each step.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "invariants/catalogue/catalogue.h"

namespace cairn::invariants {

struct Violation {
  Invariant invariant;
  std::string what;  // The condition, or the block, segment or statistic concerned.
  const char* file;
  int line;
};

using Handler = std::function<void(const Violation&)>;

// Calls this thread's handler. Never throws: a handler that does so ends the program.
void report(const Invariant& invariant, std::string what, const char* file, int line) noexcept;

// Replaces this thread's handler for its own lifetime. It records what is reported.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const std::vector<Violation>& violations() const { return violations_; }
  void clear() { violations_.clear(); }
  // "S1" or the like is among the violations.
  bool has(const char* id) const;

 private:
  std::vector<Violation> violations_;
  Handler previous_;
};

// One line: id, sentence, what, place.
std::string to_string(const Violation& violation);

}  // namespace cairn::invariants
