// What the checkers share. A checker walks a structure, const only, and reports each promise that
// does not hold; it neither throws nor stops at the first.
#pragma once

#include <string>

#include "heap/block.h"
#include "invariants/catalogue/catalogue.h"
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

// Reports the invariant unless the condition holds. `words` is called only then, and says which
// block, segment or statistic it is about.
template <class Words>
void expect(bool holds, const Invariant& invariant, Words&& words, Place place = Place::here()) {
  if (!holds) [[unlikely]] {
    report(invariant, words(), place.file, place.line);
  }
}

std::string describe(const Block& block);
std::string describe(const Segment& segment);

// The promises of one block by itself (B1 to B5, U1, U2).
void check_block(const Block& block);

// The ledger against a recount of the heap's blocks (L2 to L7).
void check_recount(const Heap& heap);

}  // namespace cairn::invariants
