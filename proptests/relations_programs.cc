#include "relations_programs.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "testing/program_state.h"

namespace cairn::proptests {
namespace {

using testing::Dice;
using testing::Operation;
using testing::Program;
using testing::Statement;

constexpr Bytes step_of_places{std::uint64_t{2} << 20};  // All alignments hold there.

// The statements that are `wanted` change places with each other.
template <class Wanted>
Program shuffled(Program program, Dice& dice, const Wanted& wanted) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < program.statements.size(); ++i)
    if (wanted(program.statements[i])) places.push_back(i);
  std::vector<std::size_t> sources = places;
  shuffle(sources, dice);
  Program other = program;
  for (std::size_t i = 0; i < places.size(); ++i) {
    other.statements[places[i]] = program.statements[sources[i]];
    other.statements[places[i]].line = program.statements[places[i]].line;
  }
  return other;
}

Statement statement_of(Operation operation, std::optional<int> thread = {}) {
  Statement made;
  made.operation = std::move(operation);
  made.thread = thread;
  return made;
}

// The memory of which the statement says something to the allocator; null: of none by name.
const std::string* name_in(const Statement& statement) {
  if (const auto* use = std::get_if<testing::Use>(&statement.operation)) return &use->name;
  const auto* free = std::get_if<testing::Free>(&statement.operation);
  const auto* target = free == nullptr ? nullptr : std::get_if<testing::NamedTarget>(&free->target);
  return target == nullptr ? nullptr : &target->name;
}

// A name, the size that was asked for under it, and the stream.
struct Known {
  Bytes size;
  std::string stream;
};
using Live = std::map<std::string, Known>;

void follow(const Statement& statement, Live& live) {
  const auto* block = std::get_if<testing::BlockDecl>(&statement.operation);
  if (block != nullptr && block->name) live[*block->name] = {block->size, "s0"};
  if (statement.expected != ErrorCode::none) return;
  const auto* alloc = std::get_if<testing::Alloc>(&statement.operation);
  if (alloc != nullptr && alloc->size.count != 0) live[alloc->name] = {alloc->size, alloc->stream};
  if (std::holds_alternative<testing::Free>(statement.operation))
    if (const std::string* name = name_in(statement)) live.erase(*name);
}

// Where the segments of one device lie instead.
class OtherPlaces {
 public:
  OtherPlaces(DeviceIndex device, Order order, Dice& dice)
      : order_(order), dice_(dice), middle_{(2 + static_cast<std::uint64_t>(device)) << 51} {}

  // REQUIRES: what departs before it comes is still there.
  Address find_place(Span segment) {
    const Bytes size = round_up(segment.size, step_of_places);
    return order_ == Order::any ? at_an_end(size)
                                : between(there_.upper_bound(segment.begin), size);
  }
  void add(Span segment, Address place) {
    const Address end = place + round_up(segment.size, step_of_places);
    there_[segment.begin] = {place, end - place};
    lowest_ = std::min(lowest_.value_or(place), place);
    highest_ = std::max(highest_.value_or(end), end);
  }
  void remove(Address begin) { there_.erase(begin); }

 private:
  using There = std::map<Address, Span>;  // By where it lay before.

  // Below or above all that ever was.
  Address at_an_end(Bytes size) {
    const Bytes gap = step_of_places * dice_.below(3);
    if (!lowest_) return middle_;
    if (dice_.one_in(2)) return *highest_ + gap;
    return {lowest_->value - (gap + size).count};
  }
  Address between(There::const_iterator next, Bytes size) {
    constexpr Bytes far{std::uint64_t{1} << 40};
    constexpr Bytes near{std::uint64_t{1} << 32};
    if (there_.empty()) return middle_;
    if (next == there_.end()) return std::prev(next)->second.end() + far;
    if (next == there_.begin()) return {next->second.begin.value - (far + size).count};
    const Address low = std::prev(next)->second.end();
    const Bytes room = next->second.begin - low - size;
    return low + round_down(std::min(Bytes{room.count / 2}, near), step_of_places);
  }

  const Order order_;
  Dice& dice_;
  const Address middle_;
  There there_;
  std::optional<Address> lowest_;
  std::optional<Address> highest_;
};

// What departs and what comes in one step; where that lies instead.
std::optional<Address> move(const Step& step, std::vector<OtherPlaces>& devices) {
  std::optional<Address> place;
  OtherPlaces* places = nullptr;
  if (step.arrival) {
    places = &devices.at(static_cast<std::size_t>(step.arrival->device));
    place = places->find_place(step.arrival->span);
  }
  for (const Address departed : step.departures)
    for (OtherPlaces& each : devices) each.remove(departed);
  if (place) places->add(step.arrival->span, *place);
  return place;
}

// Draws statements that must change nothing. Knows what the Program is doing.
class Idler {
 public:
  Idler(const Program& program, Dice& dice)
      : dice_(dice), has_identity_(is_set(program, "stream_identity:id")) {
    for (const Statement& statement : program.statements) {
      const auto* end = std::get_if<testing::DestroyStream>(&statement.operation);
      if (end != nullptr) destroyed_.insert(end->stream);
    }
  }

  void follow(const Statement& statement) {
    proptests::follow(statement, live_);
    const auto* set = std::get_if<testing::SetDevice>(&statement.operation);
    const bool is_main = statement.thread.value_or(0) == 0;
    if (set != nullptr && is_main) device_ = set->device;
  }

  // Said by the main thread. `before`: the last step.
  Statement idle(const Step& before) {
    const auto device = static_cast<std::size_t>(device_);
    switch (dice_.below(11)) {
      case 0:  // Null is freed without a look.
        return statement_of(testing::Free{testing::NullTarget{}, {}, {}, {}});
      case 1:  // No live block begins there.
        return refused(testing::Free{Address{0x1234}, {}, {}, {}});
      case 2:  // A request of 0 bytes gives null, before anything is looked at.
        return statement_of(testing::Alloc{"nothing", Bytes{0}, "s0", {}, {}});
      case 3:  // What the caller passes is checked before anything is looked at.
        return refused(testing::Alloc{"nothing", Bytes{512}, "s0", Bytes{3}, {}});
      case 4:
        return refused(testing::MemoryFraction{2.0, device_});
      case 5:  // Text that cannot be read is refused whole.
        return refused(testing::Reconfigure{"max_split_size_mb:40,no_such_setting:1"});
      case 6:
        return statement_of(testing::Reset{testing::ResetWhat::calls});
      case 7:
        return statement_of(expect_reserved(before.stats[device]));
      case 8:  // There is no event to look at.
        if (before.nothing_pending[device]) return statement_of(testing::Poll{});
        break;
      default:
        break;
    }
    return of_a_live_block();
  }

 private:
  static Statement refused(Operation operation) {
    Statement made = statement_of(std::move(operation));
    made.expected = ErrorCode::invalid_argument;
    return made;
  }
  testing::Expect expect_reserved(const DeviceStats& stats) const {
    testing::Expect expect;
    expect.left.resize(1);
    expect.left[0].query = "reserved";
    expect.left[0].device = device_;
    expect.right.resize(1);
    expect.right[0].number = static_cast<std::uint64_t>(stats.reserved_bytes.all.current);
    return expect;
  }
  Statement of_a_live_block() {
    if (live_.empty()) return statement_of(testing::Advance{0});
    const auto& [name, block] = *std::next(live_.begin(), draw_index(live_.size()));
    testing::Free free;
    free.target = testing::NamedTarget{name, {}};
    // With stream_identity:id the driver is asked of the stream first.
    switch (dice_.below(has_identity_ ? 1 : 3)) {
      case 0:  // An address inside a block is not one's start.
        if (block.size.count < 2) break;
        free.target = testing::NamedTarget{name, Bytes{1 + dice_.below(block.size.count - 1)}};
        return refused(free);
      case 1:  // A checked free compares first.
        free.size = block.size + Bytes{1};
        return refused(free);
      default:  // The block's own stream is no use.
        if (block.stream == "s0" || block.stream == "ptds" || destroyed_.contains(block.stream))
          break;
        return statement_of(testing::Use{name, block.stream});
    }
    return statement_of(testing::Advance{0});
  }
  std::ptrdiff_t draw_index(std::size_t size) {
    return static_cast<std::ptrdiff_t>(dice_.below(size));
  }

  Dice& dice_;
  const bool has_identity_;
  std::set<std::string> destroyed_;
  Live live_;
  DeviceIndex device_ = 0;  // Of the main thread.
};

}  // namespace

Program with_streams_in_another_order(Program program, Dice& dice) {
  bool has_begun = false;
  return shuffled(std::move(program), dice, [&](const Statement& statement) {
    has_begun = has_begun || !is_declaration(statement);
    return !has_begun && std::holds_alternative<testing::MakeStream>(statement.operation);
  });
}

Program with_threads_in_another_order(Program program, Dice& dice) {
  std::set<int> seen;
  return shuffled(std::move(program), dice, [&](const Statement& statement) {
    return statement.thread && seen.insert(*statement.thread).second;
  });
}

Program without_names_of_freed(const Program& program) {
  Live live;
  Program rest;
  for (const Statement& statement : program.statements) {
    const std::string* name = name_in(statement);
    if (name != nullptr && !live.contains(*name)) continue;
    rest.statements.push_back(statement);
    follow(statement, live);
  }
  return rest;
}

Program with_segments_elsewhere(const Program& program, const Log& log, Order order, Dice& dice) {
  std::vector<OtherPlaces> devices;
  devices.reserve(3);
  for (DeviceIndex device = 0; device < 3; ++device) devices.emplace_back(device, order, dice);
  Program moved;
  auto step = log.steps.begin();
  for (Statement statement : program.statements) {
    if (auto* declared = std::get_if<testing::SegmentDecl>(&statement.operation)) {
      OtherPlaces& places = devices.at(static_cast<std::size_t>(declared->gpu.value_or(0)));
      const Span before{declared->address, declared->size};
      declared->address = places.find_place(before);
      places.add(before, declared->address);
    }
    if (step != log.steps.end() && step->line == statement.line) {
      if (const auto place = move(*step, devices))
        moved.statements.push_back(statement_of(testing::NextSegment{*place}, statement.thread));
      ++step;
    }
    moved.statements.push_back(std::move(statement));
  }
  return moved;
}

Program with_idle_statements(const Program& program, const Log& log, Dice& dice) {
  Idler idler(program, dice);
  Program more;
  auto step = log.steps.begin();
  for (const Statement& statement : program.statements) {
    while (step != log.steps.begin() && dice.one_in(3))
      more.statements.push_back(idler.idle(*std::prev(step)));
    more.statements.push_back(statement);
    idler.follow(statement);
    if (step != log.steps.end() && step->line == statement.line) ++step;
  }
  return more;
}

std::vector<LiveBlock> live_at_the_end(const Program& program) {
  testing::ProgramState state;
  DeviceIndex segment_device = 0;
  for (const Statement& statement : program.statements) {
    if (const auto* segment = std::get_if<testing::SegmentDecl>(&statement.operation))
      segment_device = segment->gpu.value_or(0);
    const auto* block = std::get_if<testing::BlockDecl>(&statement.operation);
    if (block != nullptr && block->name)
      state.add_initial_block(*block->name, block->size, segment_device);
    if (statement.expected == ErrorCode::none) state.apply(statement);
  }
  std::vector<LiveBlock> blocks;
  for (const testing::KnownBlock& known : state.live()) {
    const bool can_be_named = known.own.name != "ptds" && state.is_alive(known.own);
    blocks.push_back({known.name, known.size, can_be_named ? known.own.name : "s0", known.device});
  }
  return blocks;
}

bool is_set(const Program& program, const std::string& setting) {
  return std::ranges::any_of(program.statements, [&](const Statement& statement) {
    const auto* conf = std::get_if<testing::Conf>(&statement.operation);
    return conf != nullptr && conf->text.find(setting) != std::string::npos;
  });
}

}  // namespace cairn::proptests
