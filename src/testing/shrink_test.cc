#include "testing/shrink.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "testing/liar_in_test.h"
#include "testing/parser.h"
#include "testing/play.h"
#include "testing/printer.h"
#include "testing/op_run.h"

namespace cairn::testing {
namespace {

// Takes nothing back, and says that it did.
struct KeepsAll : Liar {
  using Liar::Liar;
  DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
};

WorldOptions over_a_driver_that_keeps_all() {
  WorldOptions options;
  options.wrap_driver = [](Driver& below) { return std::make_unique<KeepsAll>(below); };
  return options;
}

TEST(Shrink, LeavesWhatIsNeededToFindIt) {
  const WorldOptions options = over_a_driver_that_keeps_all();
  OpRun run;
  for (std::uint64_t seed = 1; run.holds(); ++seed) run = run_seed(seed, 300, options);
  const Program shortest = shrink(run.program, options);
  EXPECT_LT(shortest.statements.size(), 12u) << print_program(shortest);
  EXPECT_EQ(play(shortest, options).result.kind, StepResult::Kind::finding);
  EXPECT_NE(play(shortest).result.kind, StepResult::Kind::finding);  // Not over one that does not.
}

TEST(Play, WritesDownWhatFailedAndLeavesOutWhatMakesNoSense) {
  const auto program = parse_program(
      "gpu 0 memory=4MiB\nfree nobody\nalloc a 8MiB\nalloc b 512\nalloc b 512\nfree b\n");
  ASSERT_TRUE(program);
  const Played played = play(*program);
  EXPECT_EQ(played.result.kind, StepResult::Kind::ok) << played.result.found;
  EXPECT_EQ(print_program(played.as_it_went),
            "gpu 0 memory=4MiB\nalloc a 8MiB -> out_of_memory\nalloc b 512\nfree b\n");
}

}  // namespace
}  // namespace cairn::testing
