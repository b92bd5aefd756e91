// Any bytes as a tape: the whole allocator with streams, faults, threads and settings on the
// simulated GPU, against the reference model, under the checkers and the judge. What must hold: all
// that World checks, whatever the tape says.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "fuzz/findings.h"
#include "fuzz/fuzz_world.h"
#include "fuzz/tally.h"
#include "fuzz/tape_hooks.h"
#include "testing/op_run.h"

namespace {

constexpr const char* target = "allocator_fuzzer";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const cairn::testing::WorldOptions options = cairn::fuzz::fuzz_world();
  static cairn::fuzz::Tally tally(target);
  const auto run =
      cairn::testing::run_tape(cairn::testing::tape_of(std::span(data, size)), options);
  tally.add(run.statements, run.histogram);
  if (run.holds()) return 0;
  std::fputs(in_words(run).c_str(), stderr);
  cairn::fuzz::keep_finding(target, run.program, options);
  std::abort();
}
