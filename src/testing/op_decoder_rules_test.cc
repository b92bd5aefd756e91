// What comes of any bytes, and of any seed, is no mistake of the Program, and the judge of the
// simulated GPU blames nobody.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "testing/dice.h"
#include "testing/op.h"
#include "testing/op_run.h"

namespace cairn::testing {
namespace {

Tape random_tape(std::uint64_t seed, std::size_t operations) {
  Dice dice(seed);
  std::vector<std::uint8_t> bytes(setup_bytes + operations * op_bytes + dice.below(op_bytes));
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(dice.draw());
  return tape_of(bytes);
}

TEST(OpDecoder, makes_no_mistake_of_any_bytes) {
  for (std::uint64_t seed = 0; seed < 240; ++seed) {
    const OpRun run = run_tape(random_tape(seed, 60));
    ASSERT_TRUE(run.holds()) << "seed " << seed << "\n" << in_words(run);
  }
}

// Without the model and the checkers the judge of the simulated GPU alone is left.
TEST(OpDecoder, keeps_the_rules_of_streams) {
  WorldOptions judge_alone;
  judge_alone.lockstep = false;
  judge_alone.checkers = false;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const OpRun run = run_seed(seed, 400, judge_alone);
    ASSERT_TRUE(run.holds()) << "seed " << seed << "\n" << in_words(run);
  }
}

TEST(OpDecoder, gives_the_same_statements_for_the_same_tape) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Tape tape = random_tape(seed, 100);
    EXPECT_EQ(run_tape(tape).program, run_tape(tape).program);
  }
}

}  // namespace
}  // namespace cairn::testing
