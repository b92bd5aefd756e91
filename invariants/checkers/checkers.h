// What the checkers share. A checker walks a structure, const only, and reports each promise that
// does not hold. It does not stop at the first, and ends whatever is broken; what cannot be told of
// a broken structure it leaves out.
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "heap/block.h"
#include "invariants/catalogue/catalogue.h"
#include "invariants/catalogue/count.h"
#include "invariants/catalogue/hook.h"
#include "invariants/catalogue/report.h"

namespace cairn::invariants {

struct Place {
  const char* file;
  int line;
  static constexpr Place here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
};

// Counts an evaluation of the invariant, and reports it unless the condition holds. `words` is
// called only then, and says which block, segment or statistic it is about. An invariant that
// promises something of some blocks alone is expected of these alone.
template <class Words>
void expect(bool holds, const Invariant& invariant, Words&& words, Place place = Place::here()) {
  count_evaluations(invariant, 1);
  if (!holds) [[unlikely]] {
    report(invariant, words(), place.file, place.line);
  }
}

std::string describe(const Block& block);
std::string describe(const Segment& segment);

// The promises of one block by itself (B1 to B3, B5, U1 to U5).
void check_block(const Block& block);

// The promises of a segment and its blocks (S1, S2, B4). False where the links disagree: the walk
// stops there, and nobody else should follow them, since they may form a ring.
bool check_chain(const Segment& segment);

// The promises of an index (P2, P3). Gives its blocks in order, found by the links alone, without
// those below one that is out of order.
std::vector<const Block*> check_free_index(const FreeIndex& index);

// The ledger against a recount of the heap's blocks (L2 to L8). REQUIRES: its chains can be walked.
void check_recount(const Heap& heap);

// The heap's segments against what the driver of its device has given out and not got back (D1).
// Only one who sees the driver can call this: World does, with what the simulated GPU says.
void check_segments_from_driver(const Heap& heap, std::vector<Span> driver_has_out);

}  // namespace cairn::invariants
