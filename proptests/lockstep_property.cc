// Whatever an application does, the allocator does what the reference model foretells, every
// invariant holds after each step, and no memory is handed out while work may still use it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "testing/random_run.h"

namespace {

using cairn::testing::Advance;
using cairn::testing::Alloc;
using cairn::testing::DestroyStream;
using cairn::testing::EmptyCache;
using cairn::testing::Fault;
using cairn::testing::Free;
using cairn::testing::in_words;
using cairn::testing::Launch;
using cairn::testing::MakeStream;
using cairn::testing::MemoryFraction;
using cairn::testing::Operation;
using cairn::testing::Order;
using cairn::testing::Poll;
using cairn::testing::RandomRun;
using cairn::testing::Reconfigure;
using cairn::testing::Reset;
using cairn::testing::run_random;
using cairn::testing::SetDevice;
using cairn::testing::Sync;
using cairn::testing::ThreadExit;
using cairn::testing::Use;

RC_GTEST_PROP(Lockstep, TheModelForetellsEveryOperation, ()) {
  const auto seed = *rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>());
  const RandomRun run = run_random(seed, 300);
  if (!run.holds()) RC_FAIL("seed " + std::to_string(seed) + ": " + in_words(run));
}

// The property would say little if most of what it tries made no sense, or always failed.
TEST(Lockstep, RandomOperationsDoWhatTheySay) {
  RandomRun all;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const RandomRun run = run_random(seed, 300);
    ASSERT_TRUE(run.holds()) << "seed " << seed << ": " << in_words(run);
    all.operations += run.operations;
    all.failed += run.failed;
    all.mistakes += run.mistakes;
    for (const auto& [kind, count] : run.succeeded) all.succeeded[kind] += count;
  }
  EXPECT_LT(all.mistakes * 20, all.operations);
  EXPECT_LT(all.failed * 3, all.operations);
  EXPECT_GT(all.failed * 100, all.operations);
  for (const Operation& kind :
       {Operation(Alloc{}), Operation(Free{}), Operation(Use{}), Operation(Launch{}),
        Operation(Order{}), Operation(Sync{}), Operation(Advance{}), Operation(Poll{}),
        Operation(EmptyCache{}), Operation(Fault{}), Operation(SetDevice{}),
        Operation(MakeStream{}), Operation(DestroyStream{}), Operation(MemoryFraction{}),
        Operation(Reconfigure{}), Operation(Reset{}), Operation(ThreadExit{})}) {
    EXPECT_GT(all.succeeded[kind.index()] * 1000, all.operations) << kind.index();
  }
}

}  // namespace
