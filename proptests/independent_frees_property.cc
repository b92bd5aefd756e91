// In which order blocks are freed does not matter, while nothing happens in between.
//
// What is independent: frees of different live blocks, of any devices and streams, with uses or
// without, all work done, and between them no request, no look at events and no release. Each puts
// a range back, and what is free side by side becomes one block, so that the blocks that are free
// in the end depend on which ranges are. All of them get the age that the pool's count of searches
// has by then. Only the statistics of split blocks tell of the way, and the events, each of which
// went to another block (see Detail::no_order).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "relations.h"
#include "relations_programs.h"

namespace {

using cairn::Bytes;
using cairn::DeviceIndex;
using cairn::proptests::check_relation;
using cairn::proptests::compare;
using cairn::proptests::Detail;
using cairn::proptests::Faults;
using cairn::proptests::live_at_the_end;
using cairn::proptests::LiveBlock;
using cairn::proptests::Log;
using cairn::proptests::Sample;
using cairn::proptests::shuffle;
using cairn::proptests::Step;
using cairn::proptests::write_down;
using cairn::testing::Alloc;
using cairn::testing::Dice;
using cairn::testing::Difference;
using cairn::testing::Free;
using cairn::testing::NamedTarget;
using cairn::testing::Operation;
using cairn::testing::Poll;
using cairn::testing::Program;
using cairn::testing::SetDevice;
using cairn::testing::Sync;

// By the main thread; it has no line.
void say(Program& program, Operation operation) {
  program.statements.emplace_back();
  program.statements.back().operation = std::move(operation);
}

void wait_for_all(Program& program, DeviceIndex devices) {
  for (DeviceIndex device = 0; device < devices; ++device) say(program, Sync{{}, device});
}

// Then requests like those that were freed: on the same streams, larger, smaller and as large; and
// some for which older memory must go back.
void ask_again(Program& program, const std::vector<LiveBlock>& freed, Dice& dice) {
  for (std::uint64_t count = dice.below(30); count > 0; --count) {
    const LiveBlock& like = dice.pick(freed);
    Alloc request;
    request.name = "again" + std::to_string(count);
    request.size = Bytes{1 + dice.below(2 * like.size.count)};
    if (dice.one_in(3)) request.size = like.size;
    if (dice.one_in(5)) request.size = Bytes{(4 + dice.below(20)) << 20};
    request.stream = like.stream;
    say(program, SetDevice{like.device});
    say(program, request);
  }
}

RC_GTEST_PROP(IndependentFrees, TheirOrderDoesNotMatter, ()) {
  check_relation(Faults::none, [](Sample& sample) -> std::optional<Difference> {
    constexpr DeviceIndex devices = 3;
    std::vector<LiveBlock> freed = live_at_the_end(sample.program);
    std::erase_if(freed, [&](const LiveBlock&) { return sample.dice.one_in(4); });
    if (freed.empty()) return std::nullopt;
    Program after;
    for (DeviceIndex device = 0; device < devices; ++device) {
      say(after, SetDevice{device});
      say(after, Poll{});
    }
    ask_again(after, freed, sample.dice);
    std::vector<Log> logs;
    for (int order = 0; order < 2; ++order) {
      Program program = sample.program;
      wait_for_all(program, devices);
      for (const LiveBlock& block : freed)
        say(program, Free{NamedTarget{block.name, {}}, {}, {}, {}});
      program.statements.insert(program.statements.end(), after.statements.begin(),
                                after.statements.end());
      logs.push_back(write_down(program, {Detail::no_order}));
      shuffle(freed, sample.dice);
    }
    const auto is_free_of_all = [](const Step& step) {
      return step.line == 0 && step.statement.starts_with("free ");
    };
    for (Log& log : logs) std::erase_if(log.steps, is_free_of_all);
    return compare(logs[0], logs[1]);
  });
}

}  // namespace
