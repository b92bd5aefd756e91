// The order in which free blocks serve requests: the smallest first, of equal ones that of the
// oldest segment, then the lowest address. Under best_fit_tie:address the age of segments does not
// count.
#pragma once

#include "cairn/options.h"
#include "heap/block.h"

namespace cairn {

struct FreeOrder {
  BestFitTie tie = BestFitTie::segment;

  // Strict and total, since no two blocks share an address.
  bool precedes(const Block& a, const Block& b) const {
    if (a.size != b.size) return a.size < b.size;
    if (tie == BestFitTie::segment && a.registration_counter != b.registration_counter) {
      return a.registration_counter < b.registration_counter;
    }
    return a.ptr < b.ptr;
  }
};

}  // namespace cairn
