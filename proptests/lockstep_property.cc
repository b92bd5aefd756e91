// Whatever an application does, the allocator does what the reference model foretells, every
// invariant holds after each step, and no memory is handed out while work may still use it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "property.h"
#include "testing/op_run.h"

namespace {

using cairn::testing::Advance;
using cairn::testing::Alloc;
using cairn::testing::describe_failure;
using cairn::testing::DestroyStream;
using cairn::testing::EmptyCache;
using cairn::testing::Fault;
using cairn::testing::Free;
using cairn::testing::in_words;
using cairn::testing::Launch;
using cairn::testing::MakeStream;
using cairn::testing::MemoryFraction;
using cairn::testing::op_kind_count;
using cairn::testing::Operation;
using cairn::testing::OpRun;
using cairn::testing::Order;
using cairn::testing::Poll;
using cairn::testing::Reconfigure;
using cairn::testing::Reset;
using cairn::testing::run_seed;
using cairn::testing::SetDevice;
using cairn::testing::Sync;
using cairn::testing::ThreadExit;
using cairn::testing::Use;

RC_GTEST_PROP(Lockstep, TheModelForetellsEveryOperation, ()) {
  // At full size: else the seeds of the first cases would be few and small.
  const auto seed =
      *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
  const OpRun run = run_seed(seed, 300);
  if (!run.holds())
    RC_FAIL("seed " + std::to_string(seed) + ": " + describe_failure("lockstep", run, {}));
}

// The property would say little if most of what it tries made no sense, or always failed.
TEST(Lockstep, RandomOperationsDoWhatTheySay) {
  OpRun all;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const OpRun run = run_seed(seed, 300);
    ASSERT_TRUE(run.holds()) << "seed " << seed << ": " << in_words(run);
    all.statements += run.statements;
    all.failed += run.failed;
    all.histogram += run.histogram;
    for (const auto& [kind, count] : run.succeeded) all.succeeded[kind] += count;
  }
  for (std::size_t kind = 0; kind < op_kind_count; ++kind)
    EXPECT_GT(all.histogram.executed[kind] * 100, all.histogram.total()) << kind;
  EXPECT_LT(all.histogram.total_without_effect() * 10, all.histogram.total());
  EXPECT_LT(all.failed * 3, all.statements);
  EXPECT_GT(all.failed * 100, all.statements);
  for (const Operation& kind :
       {Operation(Alloc{}), Operation(Free{}), Operation(Use{}), Operation(Launch{}),
        Operation(Order{}), Operation(Sync{}), Operation(Advance{}), Operation(Poll{}),
        Operation(EmptyCache{}), Operation(Fault{}), Operation(SetDevice{}),
        Operation(MakeStream{}), Operation(DestroyStream{}), Operation(MemoryFraction{}),
        Operation(Reconfigure{}), Operation(Reset{}), Operation(ThreadExit{})}) {
    EXPECT_GT(all.succeeded[kind.index()] * 1000, all.statements) << kind.index();
  }
}

}  // namespace
