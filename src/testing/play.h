// Plays a Program whatever becomes of its statements: one that fails as it had to is written down
// with its error, one that makes no sense is left out, and a finding ends it. So a Program can be
// played after statements were taken out of it, or faults put in.
//
// Thread safety: each Play belongs to one thread.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "testing/program.h"
#include "testing/world.h"

namespace cairn::testing {

class Play {
 public:
  // Devices and settings are those that `declarations` declare.
  explicit Play(const Program& declarations, const WorldOptions& options = {});

  // False where it found something.
  bool step(Statement statement);
  // What must hold at the end; and when all is given back.
  bool finish();

  // Of the last step, or of finish(). `failed` is never a finding.
  const StepResult& result() const { return result_; }
  // What was carried out, the statement that found something too; holds as it is written.
  // It is asked for once, after the last step.
  Program as_it_went() {
    take_out_unmade();
    return std::move(as_it_went_);
  }
  // That ran within the last step.
  const std::vector<RanBody>& bodies() const { return bodies_; }
  // The last step made no sense, or is not supported.
  bool is_mistaken() const;

 private:
  // Writes down how the bodies of the last step went.
  void write_bodies();
  void take_out_unmade();

  World world_;
  StepResult result_;
  std::vector<RanBody> bodies_;
  Program as_it_went_;
  std::vector<std::size_t> durings_;  // Where they stand in as_it_went_, in order.
  std::set<std::size_t> came_;        // Those of them whose call came.
};

// All of it. The result tells of a finding, or of none.
struct Played {
  StepResult result;
  Program as_it_went;
};
Played play(const Program& program, const WorldOptions& options = {});

}  // namespace cairn::testing
