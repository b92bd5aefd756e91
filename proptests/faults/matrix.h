// The fault matrix: scenarios, each run again and again with another fault, or two.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "examine.h"
#include "tally.h"
#include "testing/program.h"

namespace cairn::faults {

struct Scenario {
  std::string name;
  testing::Program program;
};

// Of all runs those that are this process's: the `share`th of `shares`, and of these each
// `slice`th.
struct Part {
  std::uint64_t share = 0;
  std::uint64_t shares = 1;
  std::uint64_t slice = 1;
};

class Matrix {
 public:
  Matrix(const Part& part, const Plant& plant) : part_(part), plant_(plant) {}

  // False where something is found, which is then told on stderr: what was expected and found, and
  // the shortest Program. The rest of the scenario is left out then.
  bool run(const Scenario& scenario);

  Tally& tally() { return tally_; }

 private:
  struct Base;  // A scenario without faults, up to one of its endings.

  bool is_sound(const Scenario& scenario);
  bool run(const Scenario& scenario, Ending ending);
  bool run_each(const Base& base);
  bool run_pairs(const Base& base);
  bool run_pairs_after(const Base& base, const Site& first);
  bool run_pair(const Base& base, const testing::Program& with_first, const Site& second);
  // What came of it; counts it as one that was played.
  Examined play(const testing::Program& program, Ending ending);
  bool holds(const Examined& examined, const testing::Program& program, Ending ending) const;
  bool is_mine() { return turn_++ % (part_.shares * part_.slice) == part_.share; }

  Part part_;
  Plant plant_;
  Tally tally_;
  std::uint64_t turn_ = 0;
};

}  // namespace cairn::faults
