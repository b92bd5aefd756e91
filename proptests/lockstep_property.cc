// Whatever an application does, the allocator does what the reference model foretells, every
// invariant holds after each step, and no memory is handed out while work may still use it.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "property.h"
#include "testing/op_draws.h"
#include "testing/op_run.h"

namespace {

using cairn::testing::Advance;
using cairn::testing::Alloc;
using cairn::testing::describe_failure;
using cairn::testing::DestroyStream;
using cairn::testing::draw_tape;
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
using cairn::testing::run_tape;
using cairn::testing::SetDevice;
using cairn::testing::Sync;
using cairn::testing::Tape;
using cairn::testing::ThreadExit;
using cairn::testing::Use;

// At full size: else the seeds of the first cases would be few and small.
std::uint64_t draw_seed() {
  return *rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>()));
}

RC_GTEST_PROP(Lockstep, TheModelForetellsEveryOperation, ()) {
  const std::uint64_t seed = draw_seed();
  const OpRun run = run_seed(seed, 300);
  if (!run.holds())
    RC_FAIL("seed " + std::to_string(seed) + ": " + describe_failure("lockstep", run, {}));
}

RC_GTEST_PROP(Lockstep, TheModelForetellsPyTorchsWayWhereItsDefectsAreKept, ()) {
  const std::uint64_t seed = draw_seed();
  Tape tape = draw_tape(seed, 300);
  tape.setup.switches |= cairn::testing::setup_switch::pytorch_defects;
  const OpRun run = run_tape(tape);
  if (!run.holds())
    RC_FAIL("seed " + std::to_string(seed) + ": " + describe_failure("defects", run, {}));
}

// The property would say little if most of what it tries made no sense, or always failed.
TEST(Lockstep, RandomOperationsDoWhatTheySay) {
  OpRun all;
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
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
