// Any bytes as operations on a heap alone (src/testing/heap_run.h). What must hold: each goes as
// the reference model foretells, and nothing is left at the end. Where the hooks look at whole
// heaps, so does the run after each operation.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "fuzz/findings.h"
#include "fuzz/fuzz_world.h"
#include "fuzz/tally.h"
#include "fuzz/tape_hooks.h"
#include "testing/heap_run.h"

namespace {

constexpr const char* target = "heap_fuzzer";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static cairn::fuzz::Tally tally(target);
  cairn::testing::HeapRunOptions options;
  options.checkers = cairn::fuzz::checks_all;
  const auto run =
      cairn::testing::run_heap(cairn::testing::tape_of(std::span(data, size)), options);
  tally.add(run.operations, run.histogram);
  if (run.holds()) return 0;
  std::fputs(in_words(run).c_str(), stderr);
  cairn::fuzz::keep_finding(target, run.program, cairn::fuzz::fuzz_world());
  std::abort();
}
