// All that a run of a Program is to an onlooker, as text: each statement and what became of it, the
// driver calls in their order, addresses, errors, the statistics that changed, and the map of
// memory. Two runs of a Program have the same log, byte for byte, whatever else the process does,
// and whoever compiled it.
//
// Streams that Cairn itself numbers, by threads that it saw in the whole process, have in the log a
// number by the order in which the log comes to name them.
//
// Not thread-safe: a RunLog belongs to the thread that uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "testing/play.h"
#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

class RunLog {
 public:
  // The observer of the options is replaced.
  explicit RunLog(Program program, WorldOptions options = {});

  // Carries out the next statement, or after the last what is at the end. False: nothing was left.
  // Statements that fail, or make no sense, are logged as such; after a finding none is left.
  bool step();

  const std::string& text() const { return *text_; }

 private:
  void conclude(bool goes_on);

  Program program_;
  std::shared_ptr<std::string> text_;  // The observer within the World writes to it too.
  Play play_;
  std::size_t next_ = 0;
  bool is_over_ = false;
};

// To its end.
std::string log_of(const Program& program, const WorldOptions& options = {});

}  // namespace cairn::testing
