#include "explore.h"

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

#include "arena.h"
#include "canonical.h"
#include "crash.h"
#include "operations.h"
#include "places.h"
#include "replay.h"
#include "state_table.h"
#include "testing/printer.h"

namespace cairn::exhaust {
namespace {

using testing::Statement;
using testing::StepResult;
using testing::World;
using Statements = std::vector<Statement>;

constexpr StreamId no_stream{~std::uint64_t{0}};

bool is_finding(const StepResult& result) { return result.kind == StepResult::Kind::finding; }

// Turns of every so many, of which 0 is none.
class Turns {
 public:
  explicit Turns(std::uint64_t every) : every_(every) {}
  bool next() { return every_ != 0 && ++count_ % every_ == 0; }

 private:
  std::uint64_t every_;
  std::uint64_t count_ = 0;
};

class Explorer {
 public:
  Explorer(const Scope& scope, const ExploreOptions& options)
      : scope_(scope),
        options_(options),
        ends_(options.check_ends),
        replays_(options.check_replay),
        merges_(options.check_merging),
        ahead_(options.bytes_ahead) {}

  Exploration run();

 private:
  using Index = std::uint32_t;

  struct Node {
    Index parent = 0;
    Choice choice;
  };
  struct New {
    std::uint64_t number;
    Choice choice;
    std::optional<Place> place;  // Where there is room for it.
  };

  // What is tried from one state.
  struct Tried {
    std::vector<New> found;
    std::vector<Choice> merged;  // Whose merging is to be looked at.
    std::uint64_t transitions = 0;
    std::uint64_t failing_calls = 0;
    std::optional<Choice> broken;  // With this something did not hold.
    std::uint64_t ends_checked = 0;
  };

  void start();
  protocol::Tap* tap() const;
  void go_to(Index node);
  Place here(Index node) const;
  void go_back(const Place& place) {
    place.image.restore();
    book_ = place.book;
  }
  Situation now() const { return {scope_, *world_, streams_}; }
  std::vector<Choice> way_to(Index node) const;

  bool carry_out(const Statements& statements);
  bool try_choice(const Place& from, const Choice& choice);
  template <class Visit>
  void for_each_next(const Place& from, Visit visit);
  // How many calls of each kind the allocator made at the last statement.
  using Calls = std::array<std::uint8_t, driver_call_count>;
  Calls calls() const;

  bool expand(Index node);
  Tried try_all(const Place& from);
  bool look_at(const Choice& choice, Tried& tried);
  bool holds_here(Tried& tried);
  void keep(Index node, std::vector<New>& found);
  bool check_replay(Index node);
  bool check_merging(Index node, const Choice& choice);
  Tried try_all_from(Index node);
  std::vector<std::uint64_t> numbers_after(const Place& from);
  void tell_of_crash();
  void found(std::vector<Choice> way, const std::string& otherwise);

  const Scope& scope_;
  const ExploreOptions& options_;
  Turns ends_;
  Turns replays_;
  Turns merges_;
  Exploration result_;
  World* world_ = nullptr;  // In the arena, which ends it.
  std::vector<StreamId> streams_;
  Book book_;
  Statements said_;
  std::vector<Node> nodes_;
  StateTable table_;
  std::vector<Place> places_;  // The way to where go_to() went.
  PlacesAhead ahead_;
  // Where what is tried begins: at this state, or after this choice from it.
  Index from_ = 0;
  std::optional<Choice> through_;
};

void Explorer::start() {
  const std::vector<Choice> nowhere;
  const Replay first = replay(scope_, nowhere, options_.world);  // And all that is static is made.
  if (first.is_finding()) return found(nowhere, "");
  testing::WorldOptions options = options_.world;
  options.checkers = false;
  options.steps_between_maps = 0;
  const testing::Program program = world_of(scope_);
  {
    World apart(program);
    for (const Statement& statement : program.statements) apart.step(statement);
    streams_ = streams_of(scope_, apart);
  }
  arena::enter();
  arena::clear();
  if (options_.step) tap()->listen(options);
  world_ = new World(program, options);
  for (const Statement& statement : program.statements) world_->step(statement);
  arena::leave();
  arena::set_base();
  nodes_.push_back({});
  table_.insert(canonical(now()), 0);
  result_.states_by_depth = {1};
  places_.push_back(here(0));
}

// In the arena, which ends it.
protocol::Tap* Explorer::tap() const {
  std::array<StreamId, protocol::stream_count> streams{};
  streams.fill(no_stream);
  std::ranges::copy(streams_, streams.begin());
  auto* const tap = new protocol::Tap(scope_.modelled.value(), streams);
  tap->tell = [&step = options_.step](const protocol::Transition& transition) {
    arena::leave();
    step(transition);
    arena::enter();
  };
  return tap;
}

Place Explorer::here(Index node) const {
  Place place{node, {}, book_};
  place.image.save();
  return place;
}

std::vector<Choice> Explorer::way_to(Index node) const {
  std::vector<Choice> way;
  for (; node != 0; node = nodes_[node].parent) way.push_back(nodes_[node].choice);
  std::ranges::reverse(way);
  return way;
}

void Explorer::go_to(Index node) {
  std::vector<Index> line{node};
  while (line.back() != 0) line.push_back(nodes_[line.back()].parent);
  std::ranges::reverse(line);
  std::size_t same = 0;
  while (same < line.size() && same < places_.size() && places_[same].node == line[same]) ++same;
  places_.resize(same);
  go_back(places_.back());
  for (std::size_t i = same; i < line.size(); ++i) {
    const Statements said = statements_of(nodes_[line[i]].choice, now(), book_);
    if (!carry_out(said)) throw std::runtime_error("a way that held does not hold again");
    places_.push_back(here(line[i]));
  }
}

// False where something does not hold.
bool Explorer::carry_out(const Statements& statements) {
  for (const Statement& statement : statements) {
    const arena::Inside inside;
    const StepResult result = world_->step(statement);
    if (is_finding(result)) return false;
    if (result.kind == StepResult::Kind::mistake || result.kind == StepResult::Kind::unsupported)
      throw std::runtime_error("scope " + std::string(scope_.name) + ": " +
                               print_statement(statement) + ": " + result.why);
    if (result.kind == StepResult::Kind::ok) note(statement, *world_, book_);
  }
  return true;
}

bool Explorer::try_choice(const Place& from, const Choice& choice) {
  go_back(from);
  said_ = statements_of(choice, now(), book_);
  return carry_out(said_);
}

Explorer::Calls Explorer::calls() const {
  Calls calls{};
  for (const RecordedCall& call : world_->deed().calls)
    ++calls[static_cast<std::size_t>(call.call)];
  return calls;
}

// Calls visit(choice, holds) after each choice was carried out, and each with each of its driver
// calls failing; ends where that is false.
template <class Visit>
void Explorer::for_each_next(const Place& from, Visit visit) {
  go_back(from);
  for (Choice choice : choices(now(), book_)) {
    const bool holds = try_choice(from, choice);
    const Calls made = calls();
    if (!visit(choice, holds)) return;
    for (std::size_t fault = 0; fault < scope_.faults.size(); ++fault) {
      const std::uint8_t count = made[static_cast<std::size_t>(scope_.faults[fault].call)];
      choice.fault = static_cast<std::uint8_t>(fault + 1);
      for (choice.at = 1; choice.at <= count; ++choice.at)
        if (!visit(choice, try_choice(from, choice))) return;
    }
  }
}

Explorer::Tried Explorer::try_all(const Place& from) {
  Tried tried;
  go_back(from);
  for_each_next(from, [&](const Choice& choice, bool holds) {
    ++tried.transitions;
    if (choice.fault != 0) ++tried.failing_calls;
    if (!holds || !look_at(choice, tried)) tried.broken = choice;
    return !tried.broken.has_value();
  });
  return tried;
}

// Of the state that was got to. False where it does not hold.
bool Explorer::look_at(const Choice& choice, Tried& tried) {
  const std::uint64_t number = canonical(now());
  const bool is_new = table_.find(number) == StateTable::none &&
                      std::ranges::find(tried.found, number, &New::number) == tried.found.end();
  if (!is_new) {
    if (merges_.next()) tried.merged.push_back(choice);
    return true;
  }
  tried.found.push_back({number, choice, {}});
  if (ahead_.has_room()) tried.found.back().place = here(StateTable::none);
  return holds_here(tried);
}

bool Explorer::holds_here(Tried& tried) {
  const arena::Inside inside;
  if (is_finding(world_->finish())) return false;
  if (!ends_.next()) return true;
  ++tried.ends_checked;
  return !is_finding(world_->wind_down()) && !is_finding(world_->end());
}

Explorer::Tried Explorer::try_all_from(Index node) {
  from_ = node;
  if (const std::optional<Place> kept = ahead_.take(node)) return try_all(*kept);
  go_to(node);
  return try_all(places_.back());
}

// False where something does not hold, or was found to be merged that is not the same.
bool Explorer::expand(Index node) {
  Tried tried = try_all_from(node);
  result_.transitions += tried.transitions;
  result_.failing_calls += tried.failing_calls;
  result_.ends_checked += tried.ends_checked;
  if (tried.broken) {
    std::vector<Choice> way = way_to(node);
    way.push_back(*tried.broken);
    found(std::move(way), "");
    return false;
  }
  const auto first = static_cast<Index>(nodes_.size());
  keep(node, tried.found);
  for (Index each = first; each < nodes_.size(); ++each)
    if (replays_.next() && !check_replay(each)) return false;
  return std::ranges::all_of(tried.merged,
                             [&](const Choice& choice) { return check_merging(node, choice); });
}

void Explorer::keep(Index node, std::vector<New>& found) {
  for (New& each : found) {
    const auto index = static_cast<Index>(nodes_.size());
    table_.insert(each.number, index);
    nodes_.push_back({node, each.choice});
    if (each.place) ahead_.add(index, std::move(*each.place));
  }
}

bool Explorer::check_replay(Index node) {
  ++result_.replays_checked;
  const std::vector<Choice> way = way_to(node);
  const Replay alone = replay(scope_, way, options_.world);
  if (!alone.is_finding() && table_.find(alone.number) == node) return true;
  found(way, alone.is_finding() ? "" : "in a World of its own it leads to another state");
  return false;
}

std::vector<std::uint64_t> Explorer::numbers_after(const Place& from) {
  std::vector<std::uint64_t> numbers;
  for_each_next(from, [&](const Choice&, bool holds) {
    numbers.push_back(holds ? canonical(now()) : 0);
    return true;
  });
  std::ranges::sort(numbers);
  return numbers;
}

// From both ways to a state the same can happen.
bool Explorer::check_merging(Index node, const Choice& choice) {
  ++result_.merges_checked;
  from_ = node;
  go_to(node);
  try_choice(places_.back(), choice);
  const std::uint64_t number = canonical(now());
  through_ = choice;
  const std::vector<std::uint64_t> other = numbers_after(here(StateTable::none));
  through_.reset();
  from_ = table_.find(number);
  go_to(from_);
  const std::vector<std::uint64_t> first = numbers_after(places_.back());
  if (first == other) return true;
  std::vector<Choice> way = way_to(node);
  way.push_back(choice);
  found(way, "it counts as a state from which something else can happen");
  return false;
}

void Explorer::found(std::vector<Choice> way, const std::string& otherwise) {
  testing::WorldOptions options = options_.world;
  options.steps_between_maps = 1;
  Replay alone = replay(scope_, way, options);
  if (!alone.is_finding() || !otherwise.empty()) {
    alone.result.expected = "what the exploration takes for granted";
    alone.result.found =
        otherwise.empty() ? "in a World of its own it holds, here it did not" : otherwise;
  }
  result_.finding = Finding{std::move(alone.program), alone.result.expected, alone.result.found};
}

void Explorer::tell_of_crash() {
  arena::leave();
  std::vector<Choice> way = way_to(from_);
  if (through_) way.push_back(*through_);
  Replay before = replay(scope_, way, {}, End::left_out);
  for (const Statement& statement : said_) before.program.statements.push_back(statement);
  options_.crashed(before.program);
}

Exploration Explorer::run() {
  const OnCrash on_crash(options_.crashed ? [this] { tell_of_crash(); } : std::function<void()>{});
  start();
  Index level_end = 1;  // The states from here on are a step further away.
  for (Index node = 0; node < nodes_.size() && !result_.finding; ++node) {
    if (node == level_end) {
      result_.states_by_depth.push_back(nodes_.size() - level_end);
      level_end = static_cast<Index>(nodes_.size());
    }
    result_.depth = static_cast<int>(result_.states_by_depth.size()) - 1;
    if ((options_.depth != 0 && result_.depth >= options_.depth) ||
        (options_.states != 0 && nodes_.size() >= options_.states))
      break;
    result_.is_closed = expand(node) && node + 1 == nodes_.size();
    if (options_.progress)
      options_.progress({nodes_.size(), result_.transitions, nodes_.size() - node - 1,
                         result_.depth,
                         table_.bytes() + nodes_.capacity() * sizeof(Node) + ahead_.bytes()});
  }
  if (level_end < nodes_.size()) result_.states_by_depth.push_back(nodes_.size() - level_end);
  result_.states = nodes_.size();
  return std::move(result_);
}

}  // namespace

Exploration explore(const Scope& scope, const ExploreOptions& options) {
  return Explorer(scope, options).run();
}

}  // namespace cairn::exhaust
