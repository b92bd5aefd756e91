// Each promise sees what breaks it: a driver that lies, a hand in the allocator behind the back of
// the Program, or sights that were doctored. And the guards of the properties themselves.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "allocator/all_devices.h"
#include "property.h"
#include "testing/liar_in_test.h"
#include "testing/op_draws.h"
#include "testing/play.h"

namespace {

using cairn::Address;
using cairn::AllDevices;
using cairn::BlockInfo;
using cairn::BlockMap;
using cairn::BlockState;
using cairn::Bytes;
using cairn::DeviceIndex;
using cairn::Done;
using cairn::Driver;
using cairn::DriverResult;
using cairn::EventHandle;
using cairn::MemoryInfo;
using cairn::SegmentInfo;
using namespace cairn::testing;  // NOLINT(google-build-using-namespace): the promises, by name.

// A tape of allocations, frees, launches, waits and looks at events, or of some of these.
Tape tape_of_kinds(std::uint64_t seed, const std::vector<OpKind>& kinds) {
  Tape tape = draw_tape(seed, 400);
  tape.setup.switches = 0;
  tape.setup.threshold = tape.setup.fraction = tape.setup.split = tape.setup.segment = 0;
  std::erase_if(tape.ops,
                [&](const Op& op) { return std::ranges::find(kinds, op.kind) == kinds.end(); });
  return tape;
}

struct Lie {
  std::vector<OpKind> kinds{OpKind::alloc, OpKind::free};
  std::function<std::unique_ptr<Driver>(Driver&)> driver = nullptr;
  std::function<void(AllDevices&)> meddle = nullptr;
  Doctor doctor = nullptr;
};

// The lie is found, by this promise, with these words in what was expected.
void finds(const NamedPromise& promise, const Lie& lie, const std::string& words) {
  Tally tally;
  WorldOptions options;
  options.lockstep = options.checkers = false;
  options.wrap_driver = lie.driver;
  options.meddle = lie.meddle;
  options.make_observer = watch({promise}, tally, lie.doctor);
  OpRun run;
  for (std::uint64_t seed = 1; seed <= 20 && run.holds(); ++seed)
    run = run_tape(tape_of_kinds(seed, lie.kinds), options);
  ASSERT_FALSE(run.holds()) << promise.name << ": " << words;
  const std::string expected = std::string(promise.name) + ": ";
  EXPECT_EQ(run.result.expected.substr(0, expected.size()), expected) << in_words(run);
  EXPECT_NE(run.result.expected.find(words), std::string::npos) << in_words(run);
}

template <class Liar>
std::function<std::unique_ptr<Driver>(Driver&)> driver_of() {
  return [](Driver& below) { return std::make_unique<Liar>(below); };
}

// The first live block of a device; null: none.
Address first_live(const BlockMap& map) {
  for (const SegmentInfo& segment : map) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::active_allocated) return {block.address};
    }
  }
  return {};
}

// Frees a block that the Program holds for longer than one operation.
std::function<void(AllDevices&)> frees_behind_the_back() {
  return [before = Address{}](AllDevices& allocator) mutable {
    const Address now = first_live(allocator.device(0).map());
    if (now != Address{} && now == before) static_cast<void>(allocator.free(now, nullptr));
    before = now;
  };
}

// Says that a block is where the first one is.
Doctor hands_out_again() {
  return [first = Address{}](Sights&, Deed& deed) mutable {
    if (deed.address == Address{}) return;
    if (first == Address{}) first = deed.address;
    deed.address = first;
  };
}

// Changes the first block of that state that there is.
Doctor changes_block(BlockState state, std::function<void(BlockInfo&)> change) {
  return [state, change = std::move(change)](Sights& now, cairn::testing::Deed&) {
    for (DeviceSight& device : now) {
      for (SegmentInfo& segment : device.map) {
        for (BlockInfo& block : segment.blocks) {
          if (block.state == state) return change(block);
        }
      }
    }
  };
}

TEST(PropertyTeeth, NoOverlap) {
  finds(no_overlap, {.doctor = hands_out_again()}, "memory apart from");
  finds(no_overlap,
        {.doctor =
             [](Sights&, Deed& deed) {
               if (deed.address != Address{}) deed.address = deed.address + Bytes{256};
             }},
        "an address at a multiple");
}

TEST(PropertyTeeth, Tiling) {
  struct KeepsIt : Liar {
    using Liar::Liar;
    DriverResult<Done> free(DeviceIndex, Address) override { return Done{}; }
  };
  const std::vector<OpKind> kinds{OpKind::alloc, OpKind::free, OpKind::empty_cache};
  finds(tiling, {.kinds = kinds, .driver = driver_of<KeepsIt>()}, "what the driver gave");
  finds(tiling,
        {.doctor = changes_block(BlockState::active_allocated,
                                 [](BlockInfo& block) { block.address += 512; })},
        "a block from");
  finds(tiling,
        {.doctor = changes_block(BlockState::inactive,
                                 [](BlockInfo& block) { block.size_bytes -= 512; })},
        "block");
}

TEST(PropertyTeeth, Conservation) {
  finds(conservation, {.doctor = [](Sights& now, Deed&) { now.front().free += Bytes{512}; }},
        "reserved or left");
  finds(conservation,
        {.doctor = changes_block(BlockState::active_allocated,
                                 [](BlockInfo& block) { block.requested_size_bytes += 1; })},
        "a block at");
  finds(conservation,
        {.doctor = changes_block(BlockState::active_allocated,
                                 [](BlockInfo& block) { block.size_bytes += 512; })},
        "blocks of");
}

// One block grows into its free neighbour, so that both still tile.
TEST(PropertyTeeth, ConservationOfWaste) {
  const Doctor grows = [](Sights& now, Deed&) {
    for (SegmentInfo& segment : now.front().map) {
      for (std::size_t i = 1; i < segment.blocks.size(); ++i) {
        BlockInfo& block = segment.blocks[i - 1];
        BlockInfo& next = segment.blocks[i];
        const bool fits = block.state == BlockState::active_allocated &&
                          next.state == BlockState::inactive && next.size_bytes > (2 << 20);
        if (!fits) continue;
        block.size_bytes += 2 << 20;
        next.size_bytes -= 2 << 20;
        next.address += 2 << 20;
      }
    }
  };
  finds(conservation, {.doctor = grows}, " to ");
}

TEST(PropertyTeeth, PromisedState) {
  finds(promised_state, {.meddle = frees_behind_the_back()}, "live blocks as before");
  finds(promised_state,
        {.doctor = changes_block(BlockState::active_allocated,
                                 [turn = 0](BlockInfo& block) mutable {
                                   block.requested_size_bytes += ++turn == 20 ? 1 : 0;
                                 })},
        "live blocks as before");
}

// A cache that is there to see, and not used.
TEST(PropertyTeeth, MustSucceed) {
  const Doctor adds = [](Sights& now, Deed&) {
    for (const bool is_large : {false, true}) {
      SegmentInfo segment;
      segment.address = is_large ? 0x600000000000 : 0x610000000000;
      segment.size_bytes = 64 << 20;
      segment.is_large = is_large;
      segment.blocks = {{segment.address, segment.size_bytes, 0, BlockState::inactive}};
      for (DeviceSight& device : now) device.map.push_back(segment);
    }
  };
  finds(must_succeed, {.doctor = adds}, "memory from the cache");
}

TEST(PropertyTeeth, NoRungLeft) {
  struct Refuses : Liar {
    using Liar::Liar;
    DriverResult<Address> malloc(DeviceIndex device, Bytes size) override {
      if (++asked % 3 != 0) return cairn::Failure{cairn::CudaStatus::out_of_memory};
      return below_.malloc(device, size);
    }
    int asked = 0;
  };
  finds(no_rung_left, {.driver = driver_of<Refuses>()}, "left at the driver");
  const auto says_so = [](Sights& now, Deed& deed) {
    const bool has_free = std::ranges::any_of(now.front().map, [](const SegmentInfo& segment) {
      return segment.blocks.front().size_bytes == segment.size_bytes &&
             segment.blocks.front().state == BlockState::inactive;
    });
    if (has_free) deed.error.code = cairn::ErrorCode::out_of_memory;
  };
  finds(no_rung_left, {.doctor = says_so}, "");
}

TEST(PropertyTeeth, MemoryReport) {
  struct Misjudges : Liar {
    using Liar::Liar;
    DriverResult<MemoryInfo> mem_info(DeviceIndex device) override {
      const auto info = below_.mem_info(device);
      return MemoryInfo{info->free + Bytes{1}, info->total};
    }
  };
  finds(memory_report, {.driver = driver_of<Misjudges>()}, "");
  finds(memory_report, {.doctor = [](Sights&, Deed& deed) { deed.error.memory.reset(); }},
        "the quantities");
}

TEST(PropertyTeeth, Statistics) {
  const auto resets = [](AllDevices& allocator) { allocator.device(0).reset_peak_stats(); };
  finds(statistics, {.meddle = resets}, "with a peak of");
  finds(statistics,
        {.doctor = [](Sights& now, Deed&) { ++now.front().stats.active_bytes.large_pool.current; }},
        "by the map");
  finds(statistics,
        {.doctor =
             [](Sights& now, Deed&) {
               now.front().stats.num_device_alloc += now.front().stats.allocation.all.current;
             }},
        "with the calls");
  finds(statistics,
        {.doctor =
             [](Sights& now, Deed&) {
               now.front().stats.segment.all.freed += now.front().stats.allocation.all.current;
             }},
        "that began with");
}

TEST(PropertyTeeth, NoEarlyReuse) {
  struct SaysDone : Liar {
    using Liar::Liar;
    DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return true; }
  };
  Tally tally;
  WorldOptions options;
  options.lockstep = options.checkers = false;
  options.wrap_driver = driver_of<SaysDone>();
  options.make_observer = watch({no_early_reuse}, tally);
  OpRun run;
  for (std::uint64_t seed = 1; seed <= 40 && run.holds(); ++seed)
    run = run_tape(draw_tape(seed, 300), options);
  EXPECT_EQ(run.result.expected, "violations == 0");
  EXPECT_GT(tally.of("blocks that wait"), 0u);
}

TEST(PropertyTeeth, EventProgress) {
  struct NeverDone : Liar {
    using Liar::Liar;
    DriverResult<bool> event_query(DeviceIndex, EventHandle) override { return false; }
  };
  finds(event_progress,
        {.kinds = {OpKind::alloc, OpKind::free, OpKind::launch, OpKind::use, OpKind::sync},
         .driver = driver_of<NeverDone>()},
        "all its events are done");
}

TEST(PropertyTeeth, AllReturned) {
  finds(all_returned, {.doctor = [](Sights& now, Deed&) { now.back().map.emplace_back(); }},
        "no segment at the end");
  finds(all_returned, {.doctor = [](Sights& now, Deed&) { now.back().free -= Bytes{512}; }},
        "left at the end");
  finds(all_returned,
        {.doctor = [](Sights& now, Deed&) { now.back().stats.requested_bytes.all.current = 1; }},
        "0 at the end");
}

TEST(PropertyGuards, ALeftOverReproduceIsRefused) {
  EXPECT_TRUE(refusal_of("reproduce=BcFd3"));
  EXPECT_TRUE(refusal_of("max_success=10 reproduce=BcFd3"));
  EXPECT_FALSE(refusal_of("seed=1 max_success=10"));
  EXPECT_EQ(with_seed("max_success=10 seed=7"), "max_success=10 seed=7");
  EXPECT_EQ(with_seed("").substr(0, 5), "seed=");
  const std::string drawn = with_seed("noshrink=1");
  EXPECT_EQ(drawn.substr(0, 16), "noshrink=1 seed=");
  EXPECT_EQ(with_seed(drawn), drawn);
}

}  // namespace
