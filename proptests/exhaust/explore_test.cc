#include "explore.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>

#include "allocator/all_devices.h"
#include "testing/liar_in_test.h"
#include "testing/play.h"
#include "testing/printer.h"

namespace {

using namespace cairn::exhaust;
using cairn::CudaStatus;
using cairn::DeviceIndex;
using cairn::Done;
using cairn::Driver;
using cairn::DriverResult;
using cairn::EventHandle;
using cairn::Failure;
using cairn::StreamRef;
using cairn::testing::Liar;
using cairn::testing::StepResult;

Exploration explore_all_of(const char* name, const ExploreOptions& options = {}) {
  return explore(*find_scope(name), options);
}

std::string in_words(const Exploration& seen) {
  if (!seen.finding) return "nothing found";
  return seen.finding->expected + "\n" + seen.finding->found + "\n" +
         cairn::testing::print_program(seen.finding->program);
}

TEST(Explore, TwoTinyScopesAreClosed) {
  for (const char* name : {"tiny", "streams-1x3"}) {
    ExploreOptions options;
    options.check_merging = 200;
    options.check_replay = 100;
    options.check_ends = 4;
    const Exploration seen = explore_all_of(name, options);
    EXPECT_TRUE(seen.is_closed) << name;
    EXPECT_FALSE(seen.finding) << in_words(seen);
    EXPECT_GT(seen.states, 500u) << name;
    EXPECT_GT(seen.failing_calls, 0u) << name;
    EXPECT_GT(seen.merges_checked, 20u) << name;
    EXPECT_GT(seen.replays_checked, 3u) << name;
    EXPECT_GT(seen.ends_checked, 100u) << name;
  }
}

TEST(Explore, IsTheSameTwice) {
  const Exploration first = explore_all_of("streams-1x3");
  const Exploration second = explore_all_of("streams-1x3");
  EXPECT_EQ(first.states_by_depth, second.states_by_depth);
  EXPECT_EQ(first.transitions, second.transitions);
}

TEST(Explore, IsTheSameWithoutRoomForImages) {
  const Exploration with_room = explore_all_of("tiny");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 22}) {
    ExploreOptions options;
    options.bytes_ahead = bytes;
    const Exploration seen = explore_all_of("tiny", options);
    EXPECT_EQ(seen.states_by_depth, with_room.states_by_depth) << bytes;
    EXPECT_EQ(seen.transitions, with_room.transitions) << bytes;
    EXPECT_TRUE(seen.is_closed) << bytes;
  }
}

// In the terms of the model, and none of them larger than what the scope says.
TEST(Explore, TellsOfEachStep) {
  std::uint64_t steps = 0;
  std::set<cairn::protocol::Transition> told;
  ExploreOptions options;
  options.step = [&](const cairn::protocol::Transition& step) {
    ++steps;
    told.insert(step);
  };
  const Exploration seen = explore_all_of("tiny", options);
  EXPECT_GT(2 * steps, seen.transitions);  // Not each is of the allocator.
  EXPECT_GT(told.size(), 100u);
  const std::size_t size =
      cairn::protocol::nothing_held(find_scope("tiny")->modelled.value()).size();
  for (const auto& step : told) {
    EXPECT_EQ(step.before.size(), size) << line_of(step);
    EXPECT_EQ(step.after.size(), size) << line_of(step);
  }
}

// ---- canaries: what must be found ----

template <class Lie>
Exploration with_lie(const char* name) {
  ExploreOptions options;
  options.world.wrap_driver = [](Driver& below) { return std::make_unique<Lie>(below); };
  options.world.lockstep = false;  // The model sees the calls that were not made.
  return explore_all_of(name, options);
}

TEST(Explore, FindsAnEventThatIsSaidToBeDoneTooEarly) {
  struct SaysDone : Liar {
    using Liar::Liar;
    DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  };
  const Exploration seen = with_lie<SaysDone>("tiny");
  ASSERT_TRUE(seen.finding);
  EXPECT_EQ(seen.finding->expected, "violations == 0") << in_words(seen);
  // With a driver that does not lie the Program holds.
  const cairn::testing::Played played = cairn::testing::play(seen.finding->program);
  EXPECT_NE(played.result.kind, StepResult::Kind::finding) << in_words(seen);
}

TEST(Explore, FindsAnEventThatIsNotRecorded) {
  struct RecordsNothing : Liar {
    using Liar::Liar;
    DriverResult<Done> event_record(StreamRef, EventHandle) override { return Done{}; }
  };
  EXPECT_TRUE(with_lie<RecordsNothing>("tiny").finding);
}

// What the number of a state leaves out must not matter: here it does, and is seen to.
TEST(Explore, FindsStatesThatAreNotTheSame) {
  struct Tires : Liar {
    using Liar::Liar;
    DriverResult<Done> event_record(StreamRef stream, EventHandle event) override {
      if (++records % 3 == 0) return Failure{CudaStatus::unknown};
      return Liar::event_record(stream, event);
    }
    int records = 0;
  };
  ExploreOptions options;
  options.world.wrap_driver = [](Driver& below) { return std::make_unique<Tires>(below); };
  options.world.lockstep = false;
  options.check_merging = 10;
  options.check_ends = 0;  // A free that fails at the end leaves something.
  const Exploration seen = explore_all_of("tiny", options);
  ASSERT_TRUE(seen.finding);
  EXPECT_NE(seen.finding->found.find("counts as a state"), std::string::npos) << in_words(seen);
}

// A hand that empties the cache, of which the model knows nothing.
TEST(Explore, FindsAHandThatMeddles) {
  ExploreOptions options;
  options.world.meddle = [](cairn::AllDevices& allocator) {
    const auto stats = allocator.device(0).stats();
    if (stats.num_sync_all_streams == 0 && stats.active.all.current > 0)
      static_cast<void>(allocator.empty_cache());
  };
  const Exploration seen = explore_all_of("tiny", options);
  ASSERT_TRUE(seen.finding);
  EXPECT_FALSE(seen.finding->program.statements.empty()) << in_words(seen);
}

}  // namespace
