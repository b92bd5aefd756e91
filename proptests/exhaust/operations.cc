#include "operations.h"

#include <algorithm>
#include <stdexcept>

#include "testing/machine.h"
#include "testing/parser.h"

namespace cairn::exhaust {
namespace {

using simulator::StreamNumber;
using simulator::Ticks;
using testing::Statement;
using testing::World;
using Knowledge = simulator::SimulatedGpu::Knowledge;

// How long a kernel lasts that ends after all others; what ends between two halves their distance.
constexpr Ticks long_time = Ticks{1} << 40;

std::string name_of(std::uint8_t block) { return std::string(1, static_cast<char>('a' + block)); }
std::string stream_name(std::size_t stream) { return "s" + std::to_string(stream + 1); }

Statement say(testing::Operation operation) {
  Statement statement;
  statement.operation = std::move(operation);
  return statement;
}

StreamNumber number_of(const Knowledge& gpu, StreamId stream) {
  return gpu.streams.find({0, stream.value});
}

// What is known of the machine: as the allocator has it, and as the simulated GPU does.
struct Sight {
  const DeviceState& state;
  const Knowledge& gpu;
};

// Calls act(const Sight&).
template <class Act>
auto look(const World& world, Act&& act) {
  return world.machine().allocator().device(0).inspect([&](const DeviceState& state) {
    return world.machine().gpu().inspect(
        [&](const Knowledge& gpu) { return act(Sight{state, gpu}); });
  });
}

// When work is done that is not done yet, in order.
std::vector<Ticks> ends(const Sight& sight) {
  const Ticks now = sight.gpu.now;
  std::vector<Ticks> found;
  const auto note_end = [&](Ticks end) {
    if (end > now) found.push_back(end);
  };
  sight.gpu.streams.for_each(
      [&](StreamNumber, const simulator::Point& tail) { note_end(tail.done_at); });
  sight.gpu.judge.accesses().for_each_cell(
      [&](Span, const std::vector<simulator::Access>& accesses) {
        for (const simulator::Access& access : accesses) note_end(access.done_at);
      });
  for (const auto& [stream, queue] : sight.state.queues.all()) {
    for (const PendingEvent& pending : queue)
      note_end(sight.gpu.events.find(pending.event)->recorded.done_at);
  }
  std::ranges::sort(found);
  const auto rest = std::ranges::unique(found);
  found.erase(rest.begin(), rest.end());
  return found;
}

// A kernel that is to run on the stream and touch the live block.
struct Work {
  StreamNumber own;
  StreamNumber on;
  Span range;
};

// Whether the stream has to wait for the block's own first: work that stood there when the block
// was handed out does not come before the stream's next.
bool needs_order(const Knowledge& gpu, const Work& work) {
  if (work.own == work.on) return false;
  const simulator::Ownership* held = gpu.judge.held(0).containing(work.range);
  const simulator::Clock before = gpu.streams.end_of(work.on).before;
  return held != nullptr &&
         std::ranges::any_of(held->start.entries(), [&](const simulator::Clock::Entry& entry) {
           return before.of(entry.stream) < entry.kernel &&
                  !gpu.host.has_seen(entry.stream, entry.kernel);
         });
}

Ticks start_of(const Knowledge& gpu, const Work& work) {
  Ticks start = std::max(gpu.now, gpu.streams.end_of(work.on).done_at);
  if (needs_order(gpu, work)) start = std::max(start, gpu.streams.end_of(work.own).done_at);
  return start;
}

// The ends that the work may come before or after.
std::vector<Ticks> later_ends(const Sight& sight, Ticks start) {
  std::vector<Ticks> later = ends(sight);
  std::erase_if(later, [&](Ticks end) { return end <= start; });
  return later;
}

bool has_unfinished(const Knowledge& gpu, const Work& work) {
  bool found = false;
  gpu.judge.accesses().for_each_cell(
      [&](Span span, const std::vector<simulator::Access>& accesses) {
        if (!span.overlaps(work.range)) return;
        for (const simulator::Access& access : accesses)
          found = found || (access.stream == work.on && access.done_at > gpu.now);
      });
  return found;
}

// What may happen to the blocks.
class Chooser {
 public:
  explicit Chooser(const Situation& now)
      : scope_(now.scope), world_(now.world), streams_(now.streams) {}

  std::vector<Choice> of(const Book& book) {
    look(world_, [&](const Sight& sight) { all(book, sight); });
    return std::move(found_);
  }

 private:
  void add(Kind kind, std::size_t block = 0, std::size_t stream = 0, std::size_t choice = 0) {
    found_.push_back({kind, static_cast<std::uint8_t>(block), static_cast<std::uint8_t>(stream),
                      static_cast<std::uint8_t>(choice)});
  }

  void all(const Book& book, const Sight& sight) {
    const DeviceState& state = sight.state;
    const std::int64_t active = state.heap.ledger().read().active.all.current;
    const int name = book.free_name();
    for (std::size_t size = 0; size < scope_.sizes.size(); ++size) {
      if (active >= scope_.most_blocks || name < 0) break;
      for (std::size_t stream = 0; stream < streams_.size(); ++stream)
        add(Kind::alloc, static_cast<std::size_t>(name), stream, size);
    }
    for (std::size_t block = 0; block < most_names; ++block) {
      if (const Block* live = state.heap.find_live(book.where[block]); live != nullptr)
        add_of_block(block, *live, sight);
    }
    if (!ends(sight).empty()) add(Kind::advance);
    if (scope_.polls && !state.queues.are_empty()) add(Kind::poll);
    if (scope_.empties) add(Kind::empty);
    for (std::size_t change = 0; change < scope_.changes.size(); ++change)
      add(Kind::change, 0, 0, change);
  }

  void add_of_block(std::size_t name, const Block& block, const Sight& sight) {
    add(Kind::free, name);
    const auto uses = sight.state.heap.uses(block);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
      const bool is_own = streams_[stream] == block.stream;
      const bool is_used = std::ranges::count(uses, StreamKey{0, streams_[stream]}) != 0;
      if (scope_.uses && !is_own && !is_used) add(Kind::use, name, stream);
      if (scope_.frees_on && !is_own) add(Kind::free_on, name, stream);
      if (scope_.works && (is_used || (is_own && scope_.works_on_own_stream)))
        add_work(name, stream, block, sight);
    }
  }

  void add_work(std::size_t name, std::size_t stream, const Block& block, const Sight& sight) {
    const Knowledge& gpu = sight.gpu;
    const Work work{number_of(gpu, block.stream),
                    number_of(gpu, streams_[stream]),
                    {block.ptr, block.requested_size}};
    if (has_unfinished(gpu, work)) return;
    const std::size_t places = later_ends(sight, start_of(gpu, work)).size() + 1;
    for (std::size_t place = 0; place < places; ++place) add(Kind::work, name, stream, place);
  }

  const Scope& scope_;
  const World& world_;
  const std::vector<StreamId>& streams_;
  std::vector<Choice> found_;
};

std::string name_of(StreamId stream, const Situation& now) {
  const auto found = std::ranges::find(now.streams, stream);
  return stream_name(static_cast<std::size_t>(found - now.streams.begin()));
}

std::vector<Statement> work_statements(const Choice& choice, const Situation& now, Address where) {
  return look(now.world, [&](const Sight& sight) {
    const Knowledge& gpu = sight.gpu;
    const Block& block = *sight.state.heap.find_live(where);
    const std::string on = stream_name(choice.stream);
    const Work work{number_of(gpu, block.stream),
                    number_of(gpu, now.streams[choice.stream]),
                    {block.ptr, block.requested_size}};
    const Ticks start = start_of(gpu, work);
    const std::vector<Ticks> later = later_ends(sight, start);
    const Ticks after = choice.choice == 0 ? start : later[choice.choice - 1u];
    const Ticks room = choice.choice == later.size() ? 2 * long_time : later[choice.choice] - after;
    if (room < 2) throw std::runtime_error("no time is left between two ends of work");
    std::vector<Statement> said;
    if (needs_order(gpu, work)) said.push_back(say(testing::Order{name_of(block.stream, now), on}));
    const Ticks ticks = after + room / 2 - start;
    said.push_back(say(testing::Launch{on, {{name_of(choice.block), false}}, ticks}));
    return said;
  });
}

Statement advance_statement(const World& world) {
  return look(world, [](const Sight& sight) {
    return say(testing::Advance{ends(sight).front() - sight.gpu.now});
  });
}

std::vector<Statement> plain_statements(const Choice& choice, const Situation& now,
                                        const Book& book) {
  const testing::NamedTarget target{name_of(choice.block), {}};
  const std::string on = stream_name(choice.stream);
  switch (choice.kind) {
    case Kind::alloc:
      return {say(testing::Alloc{target.name, now.scope.sizes[choice.choice], on, {}, {}})};
    case Kind::free:
      return {say(testing::Free{target, {}, {}, {}})};
    case Kind::use:
      return {say(testing::Use{target.name, on})};
    case Kind::free_on:
      return {say(testing::Free{target, on, {}, {}})};
    case Kind::work:
      return work_statements(choice, now, book.where[choice.block]);
    case Kind::advance:
      return {advance_statement(now.world)};
    case Kind::poll:
      return {say(testing::Poll{})};
    case Kind::empty:
      return {say(testing::EmptyCache{})};
    case Kind::change:
      return testing::parse_program(std::string(now.scope.changes[choice.choice]))->statements;
  }
  return {};
}

}  // namespace

int Book::free_name() const {
  const auto found = std::ranges::find(where, Address{});
  return found == where.end() ? -1 : static_cast<int>(found - where.begin());
}

std::vector<Choice> choices(const Situation& now, const Book& book) {
  return Chooser(now).of(book);
}

std::vector<Statement> statements_of(const Choice& choice, const Situation& now, const Book& book) {
  std::vector<Statement> said = plain_statements(choice, now, book);
  if (choice.fault == 0) return said;
  const FaultChoice& fault = now.scope.faults[choice.fault - 1u];
  said.insert(said.begin(),
              say(testing::Fault{fault.call, choice.at, fault.error, 1, fault.sticky}));
  return said;
}

void note(const Statement& statement, const World& world, Book& book) {
  const auto place = [](const std::string& name) {
    return static_cast<std::size_t>(name.front() - 'a');
  };
  if (const auto* alloc = std::get_if<testing::Alloc>(&statement.operation))
    book.where[place(alloc->name)] = world.deed().address;
  if (const auto* free = std::get_if<testing::Free>(&statement.operation))
    book.where[place(std::get<testing::NamedTarget>(free->target).name)] = {};
}

}  // namespace cairn::exhaust
