// The operations of a run on a heap alone, as the statements of a Program that does the same to an
// allocator. Blocks and streams are named by their numbers: a7, and of those that are there at the
// start i0; s3, and s0 for the default stream.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "testing/program.h"

namespace cairn::testing {

struct HeapStream {
  StreamKey key;
  int number = 0;
  bool is_alive = true;
};
struct HeapBlock {
  Address address;
  Bytes size;      // As requested.
  int number = 0;  // Below 0: one of those that are there at the start.
  int stream = 0;  // Its own, by number.
};

std::string name_of(const HeapBlock& block);
std::string name_of(const HeapStream& stream);

class HeapStory {
 public:
  explicit HeapStory(std::vector<Statement> declarations) : program_{std::move(declarations)} {}

  void say(Operation operation);
  // Work of the stream on the block, which is done when the stream is waited for.
  void work(const HeapStream& user, const HeapBlock& block);
  // How the last statement has to end.
  void ended(ErrorCode code) { program_.statements.back().expected = code; }

  const Program& program() const { return program_; }

 private:
  Program program_;
};

}  // namespace cairn::testing
