// Any bytes as operations on a heap alone (src/testing/heap_run.h). What must hold: each goes as
// the reference model foretells, and nothing is left at the end. Where the hooks look at whole
// heaps, so does the run after each operation.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "invariants/catalogue/hook.h"
#include "testing/heap_run.h"
#include "testing/op.h"

namespace {

// Says at the end how many operations there were.
struct Total {
  std::uint64_t operations = 0;
  ~Total() {
    std::fprintf(stderr, "heap_fuzzer: operations: %llu\n",
                 static_cast<unsigned long long>(operations));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace cairn::testing;
  static Total total;
  HeapRunOptions options;
  options.checkers = cairn::invariants::wanted(cairn::invariants::Cost::heap);
  const HeapRun run = run_heap(tape_of({data, size}), options);
  total.operations += run.operations;
  if (run.holds()) return 0;
  std::fprintf(stderr, "%s", in_words(run).c_str());
  std::abort();
}
