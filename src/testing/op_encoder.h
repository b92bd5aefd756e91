// The way back from a Program to operation records, so that regressions and recorded traces are
// seeds of the fuzzers: the tape whose statements are those of the Program, with names of the
// decoder's. What no record says (pools, captures, more than 64 live blocks ...) is left out;
// numbers become the nearest that a field can say.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testing/op.h"
#include "testing/program.h"

namespace cairn::testing {

struct Encoded {
  Tape tape;
  // Statements that do something and that the tape does not say. Declarations and what must be true
  // (`expect`) do not count.
  std::size_t left_out = 0;
};

Encoded encode(const Program& program);

// The part of it that stands before the first operation.
struct EncodedWorld {
  Setup setup;
  std::vector<MakeStream> streams;  // The Program's, in the order in which the decoder makes them.
  std::vector<std::string> blocks;  // Its names of initial blocks, likewise.
};
EncodedWorld encode_world(const Program& program);

// The streams that the statement names, but for `stream=` of a free, which may be any word.
std::vector<std::string> streams_named(const Operation& operation);

// The choice below `choices` that is the least apart from what is wanted; the first of several.
template <class Distance>
unsigned nearest(unsigned choices, Distance distance) {
  unsigned best = 0;
  for (unsigned choice = 1; choice < choices; ++choice) {
    if (distance(choice) < distance(best)) best = choice;
  }
  return best;
}

}  // namespace cairn::testing
