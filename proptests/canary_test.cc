// Random Programs find memory that is handed out too early: where a driver lies about what is done,
// neither allocator nor model can know, and the judge must see it.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "testing/liar_in_test.h"
#include "testing/op_run.h"

namespace {

using cairn::Done;
using cairn::Driver;
using cairn::DriverResult;
using cairn::EventHandle;
using cairn::StreamRef;
using cairn::testing::Liar;
using cairn::testing::OpRun;
using cairn::testing::WorldOptions;

template <class Lie>
OpRun first_that_finds(std::uint64_t seeds) {
  WorldOptions options;
  options.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  options.lockstep = false;  // The model sees the calls that were not made.
  options.checkers = false;
  OpRun run;
  for (std::uint64_t seed = 1; seed <= seeds && run.holds(); ++seed)
    run = cairn::testing::run_seed(seed, 300, options);
  return run;
}

TEST(Canary, AnEventThatIsNotDoneIsMissed) {
  struct SaysDone : Liar {
    using Liar::Liar;
    DriverResult<bool> event_query(cairn::DeviceIndex, EventHandle) override { return true; }
  };
  const OpRun run = first_that_finds<SaysDone>(40);
  EXPECT_FALSE(run.holds());
  EXPECT_EQ(run.result.expected, "violations == 0");
}

TEST(Canary, AnEventThatIsNotRecordedIsMissed) {
  struct RecordsNothing : Liar {
    using Liar::Liar;
    DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  };
  const OpRun run = first_that_finds<RecordsNothing>(40);
  EXPECT_FALSE(run.holds());
  EXPECT_EQ(run.result.expected, "violations == 0");
}

TEST(Canary, AStreamThatIsNotWaitedForIsMissed) {
  struct WaitsForNothing : Liar {
    using Liar::Liar;
    DriverResult<Done> stream_sync(StreamRef) override { return Done{}; }
  };
  const OpRun run = first_that_finds<WaitsForNothing>(40);
  EXPECT_FALSE(run.holds());
  EXPECT_EQ(run.result.expected, "violations == 0");
}

}  // namespace
