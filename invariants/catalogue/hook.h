// How the code asks for a check: the only header of invariants/ that src/ below testing includes.
// At level `off` nothing of this is left in the object code (ci/identity shows it).
#pragma once

#include <type_traits>

#include "invariants/catalogue/catalogue.h"
#include "invariants/catalogue/count.h"
#include "invariants/catalogue/probes.h"

namespace cairn {
class FreeIndex;
class Heap;
class Ledger;
class LiveTable;
struct DeviceState;
struct Segment;
}  // namespace cairn

namespace cairn::invariants {

// The dearest Cost that is compiled in; 0 is none.
inline constexpr int level = CAIRN_INVARIANT_LEVEL;

constexpr bool wanted(Cost cost) { return static_cast<int>(cost) <= level; }

// Each looks only at the structure and what it owns, and reports what does not hold, up to
// `dearest`. Defined in invariants/checkers.
void check(const FreeIndex& index, Cost dearest);
void check(const Heap& heap, Cost dearest);
void check(const Ledger& ledger, Cost dearest);
void check(const LiveTable& table, Cost dearest);
void check(const Segment& segment, Cost dearest);
void check(const DeviceState& state, Cost dearest);

// As invariants/catalogue/report.h, without its includes.
void report_condition(const Invariant& invariant, const char* condition, const char* file,
                      int line);

// Whether this thread is in a check that a guarded scope made: what tests do to the code's use of
// host memory passes over that.
inline constinit thread_local bool is_checking = false;

class Checking {
 public:
  Checking() : was_checking_(is_checking) { is_checking = true; }
  Checking(const Checking&) = delete;
  Checking& operator=(const Checking&) = delete;
  ~Checking() { is_checking = was_checking_; }

 private:
  bool was_checking_;
};

// Guards a scope: checks a structure on the way in and on every way out.
template <class Structure>
class [[nodiscard]] Audit {
 public:
  explicit Audit(const Structure& structure) : structure_(structure) { check_now(); }
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;
  ~Audit() { check_now(); }

 private:
  void check_now() const {
    const Checking now;
    check(structure_, static_cast<Cost>(level));
  }

  const Structure& structure_;
};

// What a guarded scope holds: where checks are off a reference, of which nothing is left. An empty
// guard would leave no code either, but g++ numbers what stands around it differently, and then
// orders the operands of commutative instructions differently.
template <class Structure, bool on = (level > 0)>
using Scope = std::conditional_t<on, Audit<Structure>, const Structure&>;

}  // namespace cairn::invariants

// The first line of a mutating member: its structure holds on the way in and on every way out.
#define CAIRN_AUDIT(structure)                                                          \
  [[maybe_unused]] ::cairn::invariants::Scope<std::remove_cvref_t<decltype(structure)>> \
  audited_scope(structure)

// A fact that only the middle of a function knows. Counted as an evaluation.
#define CAIRN_HOLDS(invariant, condition)                                                 \
  do {                                                                                    \
    if constexpr (::cairn::invariants::wanted(::cairn::invariants::invariant.cost)) {     \
      ::cairn::invariants::count_evaluations(::cairn::invariants::invariant, 1);          \
      if (!(condition)) [[unlikely]]                                                      \
        ::cairn::invariants::report_condition(::cairn::invariants::invariant, #condition, \
                                              __FILE__, __LINE__);                        \
    }                                                                                     \
  } while (false)

// The first line of an error branch, which must be seen taken: one of `probes`, by its name.
#define CAIRN_PROBE(name)                             \
  static_cast<void>(::cairn::invariants::level > 0 && \
                    ::cairn::invariants::count_probe(::cairn::invariants::place_of_probe(name)))
