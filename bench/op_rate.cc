// How many operations of random Programs World carries out in a second of processor time, on worlds
// of about 50 live blocks: with all checks; with those alone that cost little (the hooks that are
// compiled in, and the judge), once beside the reference model and once without. What is counted is
// statements carried out, after the declarations; what is timed is whole runs of tapes, decoder and
// end of the World with them. Flags are those of Google Benchmark.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/op_draws.h"
#include "testing/op_run.h"

namespace cairn::bench {
namespace {

using testing::OpKind;
using testing::Tape;
using testing::WorldOptions;

constexpr std::uint8_t most_live = 50;

// As many blocks as there may be, of sizes that find room, then whatever the seed says.
Tape full_tape(std::uint64_t seed, std::size_t operations) {
  Tape tape = testing::draw_tape(seed, operations);
  tape.setup.most_live = most_live;
  tape.setup.memory = {5, 5, 5};  // 512 MiB each: blocks of all sizes find room.
  for (std::size_t i = 0; i < most_live && i < operations; ++i) {
    tape.ops[i].kind = OpKind::alloc;
    tape.ops[i].amount = testing::size_code({1 + tape.ops[i].amount % (1 << 20)});
  }
  return tape;
}

// The mean number of live blocks after each statement.
class LiveBlocks final : public testing::Observer {
 public:
  LiveBlocks(std::uint64_t& statements, std::uint64_t& sum) : statements_(statements), sum_(sum) {}

  std::optional<testing::Difference> after(const testing::Statement&, const testing::StepResult&,
                                           const testing::World& world) override {
    ++statements_;
    for (const DeviceStats& stats : world.stats())
      sum_ += static_cast<std::uint64_t>(stats.allocation.all.current);
    return std::nullopt;
  }

 private:
  std::uint64_t& statements_;
  std::uint64_t& sum_;
};

double mean_live(const Tape& tape) {
  std::uint64_t statements = 0;
  std::uint64_t sum = 0;
  WorldOptions options;
  options.checkers = false;
  options.lockstep = false;
  options.make_observer = [&] { return std::make_unique<LiveBlocks>(statements, sum); };
  testing::run_tape(tape, options);
  return statements == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(statements);
}

// Tapes whose worlds have 40 to 55 live blocks on average; `live` is the mean of that.
struct Tapes {
  std::vector<Tape> tapes;
  double live = 0;
};
Tapes choose_tapes(std::size_t operations) {
  Tapes chosen;
  constexpr std::size_t wanted = 40;
  for (std::uint64_t seed = 1; chosen.tapes.size() < wanted; ++seed) {
    Tape tape = full_tape(seed, operations);
    const double live = mean_live(tape);
    if (live < 40 || live > 55) continue;
    chosen.live += live / wanted;
    chosen.tapes.push_back(std::move(tape));
  }
  return chosen;
}

void run_tapes(benchmark::State& state, const WorldOptions& options) {
  const auto [tapes, live] = choose_tapes(static_cast<std::size_t>(state.range(0)));
  std::uint64_t statements = 0;
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(tapes.size()))) {
    for (const Tape& tape : tapes) {
      const testing::OpRun run = testing::run_tape(tape, options);
      if (!run.holds()) state.SkipWithError(testing::in_words(run).c_str());
      statements += run.statements;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(statements));
  state.counters["live_blocks"] = live;
}

}  // namespace
}  // namespace cairn::bench

int main(int argc, char** argv) {
  using cairn::testing::WorldOptions;
  WorldOptions all;
  WorldOptions constant;
  constant.checkers = false;
  constant.steps_between_maps = 0;
  WorldOptions judge = constant;
  judge.lockstep = false;
  const std::pair<const char*, WorldOptions> configurations[] = {
      {"all_checks", all}, {"constant", constant}, {"constant_without_model", judge}};
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("invariant_level", std::to_string(CAIRN_INVARIANT_LEVEL));
  for (const auto& [name, options] : configurations) {
    benchmark::RegisterBenchmark(
        name, [world = options](benchmark::State& state) { cairn::bench::run_tapes(state, world); })
        ->Arg(300)
        ->Arg(2000)
        ->MeasureProcessCPUTime()
        ->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
