// One run of a tape on a heap alone: a BareAllocator, beside it the reference model, and nothing of
// names, statements or a simulated GPU. So it is fast, and comes to states of splits, merges, fits,
// ages and oversize that a World takes long to reach. Of the tape's devices only the first has a
// heap; streams of the others use its blocks. What has no meaning to a heap (work, threads,
// devices) stands for what has.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "heap/heap.h"
#include "testing/difference.h"
#include "testing/op.h"
#include "testing/op_run.h"
#include "testing/program.h"

namespace cairn::testing {

struct HeapRunOptions {
  // After each operation all invariants are checked, and the whole map is compared with the
  // model's; else only now and then, and at the end.
  bool checkers = true;
  // For those who plant a fault to see that it is found: called after each operation, before the
  // checks, and where something is found once more, for the Program. Null: none.
  std::function<void(Heap& heap, std::uint64_t operation)> meddle;
};

struct HeapRun {
  std::optional<Difference> finding;
  std::uint64_t operations = 0;
  Histogram histogram;
  // The same operations for a World, where there is a finding.
  Program program;

  bool holds() const { return !finding.has_value(); }
};

HeapRun run_heap(const Tape& tape, const HeapRunOptions& options = {});

// What was found, in words, and the program.
std::string in_words(const HeapRun& run);

}  // namespace cairn::testing
