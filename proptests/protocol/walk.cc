#include "walk.h"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "allocator/all_devices.h"
#include "testing/parser.h"
#include "testing/world.h"

namespace cairn::protocol {
namespace {

using testing::Program;
using testing::Statement;
using testing::StepResult;
using testing::World;

using namespace literals;

constexpr std::array<const char*, stream_count> stream_names{"s0", "s1", "s2"};
constexpr Bounds bounds{2, 2, 1_MiB};
constexpr const char* declarations =
    "gpu 0 memory=4MiB\nconf release_lock_on_cudamalloc:True\nstream s1\nstream s2\n";

std::vector<Statement> parsed(const std::string& text) {
  auto program = testing::parse_program(text);
  if (program.failed()) throw std::logic_error(program.error().message + " in\n" + text);
  return std::move(program->statements);
}

// What memory of each stream stands under; handles are the same in every World.
std::array<StreamId, stream_count> streams_of_world() {
  const std::vector<Statement> statements = parsed(
      "gpu 0 memory=20MiB\nstream s1\nstream s2\n"
      "alloc a 1 s0\nalloc b 1 s1\nalloc c 1 s2\n");
  AllDevices* allocator = nullptr;
  testing::WorldOptions options;
  options.meddle = [&](AllDevices& all) { allocator = &all; };
  World world({statements}, options);
  std::array<StreamId, stream_count> streams{};
  std::size_t count = 0;
  for (const Statement& statement : statements) {
    world.step(statement);
    if (world.deed().address == Address{} || allocator == nullptr) continue;
    streams[count++] = allocator->device(0).inspect(
        [&](const Heap& heap) { return heap.find_live(world.deed().address)->stream; });
  }
  return streams;
}

struct Block {
  std::string name;
  int stream = 0;
};
using Blocks = std::map<Address, Block>;

struct Action {
  std::string text;  // A statement, or two: a fault and what it strikes.
  std::optional<Block> allocates;
  std::optional<Address> frees;
  int launches_on = -1;
  bool ends_work = false;
  bool is_struck = false;  // By a fault.
  // Of an allocation during whose driver call another thread does something.
  std::function<void(AllDevices&)> meanwhile;
};

// How to come to a state, and what is there.
struct Place {
  std::vector<Statement> way;
  Blocks blocks;
  std::set<int> busy;  // Streams with work that is not done.
};

std::string free_name(const Blocks& blocks) {
  for (char name = 'a';; ++name) {
    const auto is_its = [&](const auto& block) { return block.second.name[0] == name; };
    if (std::ranges::none_of(blocks, is_its)) return {name};
  }
}

class Walker {
 public:
  explicit Walker(std::size_t most_states)
      : most_states_(most_states), streams_(streams_of_world()) {}

  Walk walk() {
    places_.push_back({parsed(declarations), {}, {}});
    while (!places_.empty() && found_.states < most_states_) {
      const Place place = std::move(places_.front());
      places_.pop_front();
      ++found_.states;
      try_all_at(place);
    }
    found_.states_left = places_.size();
    return std::move(found_);
  }

 private:
  void try_all_at(const Place& place) {
    for (const Action& action : actions_at(place)) {
      const std::set<std::string> calls = try_at(place, action);
      for (const std::string& call : calls) {
        for (const char* error : {"out_of_memory", "illegal_address"}) {
          try_at(place, struck(action, call, error));
        }
      }
      if (!action.allocates || !calls.contains("malloc")) continue;
      for (auto& act : acts_meanwhile(place)) {
        Action other = action;
        other.meanwhile = act;
        try_at(place, other);
        try_at(place, struck(other, "stream_sync", "illegal_address"));
      }
    }
  }

  std::vector<Action> actions_at(const Place& place) const {
    std::vector<Action> all;
    for (int stream = 0; stream < stream_count; ++stream) {
      const std::string on = stream_names[static_cast<std::size_t>(stream)];
      const std::string name = free_name(place.blocks);
      Action& action = all.emplace_back();
      action.text = "alloc " + name + " 1MiB " + on;
      action.allocates = Block{name, stream};
      for (const auto& [address, block] : place.blocks) {
        all.emplace_back().text = "use " + block.name + " " + on;
        Action& launch = all.emplace_back();
        launch.text = "launch " + on + " " + block.name + " 100";
        launch.launches_on = stream;
      }
    }
    for (const auto& [address, block] : place.blocks) {
      Action& action = all.emplace_back();
      action.text = "free " + block.name;
      action.frees = address;
    }
    all.emplace_back().text = "poll";
    all.emplace_back().text = "empty_cache";
    if (!place.busy.empty()) {
      all.emplace_back().text = "sync";
      all.back().ends_work = true;
    }
    return all;
  }

  static Action struck(Action action, const std::string& call, const std::string& error) {
    action.text.insert(0, "fault " + call + " at=1 error=" + error + "\n");
    action.is_struck = true;
    return action;
  }

  std::vector<std::function<void(AllDevices&)>> acts_meanwhile(const Place& place) const {
    std::vector<std::function<void(AllDevices&)>> acts;
    acts.push_back([](AllDevices& all) { static_cast<void>(all.process_events(0)); });
    acts.push_back([](AllDevices& all) { static_cast<void>(all.empty_cache()); });
    for (const auto& [address, block] : place.blocks) {
      acts.push_back([at = address](AllDevices& all) { static_cast<void>(all.free(at, nullptr)); });
    }
    return acts;
  }

  // Which kinds of driver call it made.
  std::set<std::string> try_at(const Place& place, const Action& action) {
    Tap tap(bounds, streams_);
    testing::WorldOptions options;
    options.lockstep = false;
    options.checkers = false;
    tap.listen(options);
    World world({place.way}, options);
    for (const Statement& statement : place.way) world.step(statement);
    tap.meanwhile = action.meanwhile;
    if (action.allocates) tap.next_request = {1, action.allocates->stream};
    tap.tell = [&](const Transition& transition) { found_.transitions.insert(transition); };
    Place next = place;
    StepResult result;
    std::set<std::string> calls;
    for (const Statement& statement : parsed(action.text)) {
      result = world.step(statement);
      next.way.push_back(statement);
    }
    ++found_.tries;
    for (const RecordedCall& call : world.deed().calls) {
      calls.insert(std::string(to_string(call.call)));
    }
    if (result.kind == StepResult::Kind::ok || result.kind == StepResult::Kind::failed) {
      if (!action.meanwhile) arrive(std::move(next), action, result, {tap, world});
    }
    return calls;
  }

  struct There {
    const Tap& tap;
    const World& world;
  };
  void arrive(Place next, const Action& action, const StepResult& result, const There& there) {
    if (result.kind == StepResult::Kind::ok) {
      if (action.allocates) next.blocks[there.world.deed().address] = *action.allocates;
      if (action.frees) next.blocks.erase(*action.frees);
    }
    if (action.launches_on >= 0) next.busy.insert(action.launches_on);
    if (action.ends_work) next.busy.clear();
    if (there.tap.state().size() <= 1) throw std::logic_error("a step out of the scope");
    if (seen_.insert({there.tap.state(), next.busy}).second) places_.push_back(std::move(next));
  }

  const std::size_t most_states_;
  const std::array<StreamId, stream_count> streams_;
  std::deque<Place> places_;
  std::set<std::pair<Abstract, std::set<int>>> seen_;
  Walk found_;
};

}  // namespace

Walk walk(std::size_t most_states) { return Walker(most_states).walk(); }

}  // namespace cairn::protocol
