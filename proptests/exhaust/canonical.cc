#include "canonical.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "testing/machine.h"

namespace cairn::exhaust {
namespace {

using simulator::Access;
using simulator::Clock;
using simulator::KernelNumber;
using simulator::Ownership;
using simulator::Point;
using simulator::StreamNumber;
using simulator::Ticks;
using Knowledge = simulator::SimulatedGpu::Knowledge;
using Words = std::vector<std::uint32_t>;
using Order = std::vector<std::uint8_t>;  // At each place which stream stands there.

__extension__ using Wide = unsigned __int128;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const Wide product = Wide{a} * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

std::uint64_t hash_of(const Words& words) {
  std::uint64_t state = 0x243f6a8885a308d3u ^ words.size();
  for (const std::uint32_t word : words)
    state = mix(state ^ (word + 0x9e3779b97f4a7c15u), 0xd6e8feb86659fd93u) + word;
  return mix(state ^ 0xa4093822299f31d0u, 0x9fb21c651e98df25u);
}

std::uint32_t word(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

template <class T>
void sort_once(std::vector<T>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// The place of a value among those there are, from 1; 0: it is none of them.
template <class T>
std::uint32_t rank(const std::vector<T>& values, T value) {
  const auto found = std::ranges::lower_bound(values, value);
  return found == values.end() || *found != value
             ? 0
             : static_cast<std::uint32_t>(found - values.begin()) + 1;
}

constexpr std::uint32_t nobody = 0xffff;

struct Cell {
  Span span;
  const std::vector<Access>* accesses;
};

class Canonical {
 public:
  Canonical(const Situation& now, const DeviceState& state, const Knowledge& gpu)
      : now_(now), state_(state), gpu_(gpu) {
    for (const StreamId stream : now.streams)
      numbers_.push_back(gpu.streams.find({0, stream.value}));
    tails_.resize(numbers_.size());
    kernels_.resize(numbers_.size());
    counts_ages_ = state.heap.counts_searches();
    collect();
  }

  const Words& words(const Order& order) {
    words_.clear();
    place_of_.assign(order.size(), 0);
    for (std::size_t place = 0; place < order.size(); ++place)
      place_of_[order[place]] = static_cast<std::uint32_t>(place);
    list_segments();
    for (const Segment* segment : segments_) say(*segment, order);
    for (const std::uint8_t stream : order) say_stream(stream, order);
    say_device();
    return words_;
  }

 private:
  // ---- what there is, whatever the streams are called ----

  std::size_t index_of(StreamNumber number) const {
    return static_cast<std::size_t>(std::ranges::find(numbers_, number) - numbers_.begin());
  }
  std::size_t index_of(StreamId stream) const {
    return static_cast<std::size_t>(std::ranges::find(now_.streams, stream) - now_.streams.begin());
  }
  bool matters(StreamNumber stream, KernelNumber kernel) const {
    return !gpu_.host.has_seen(stream, kernel) && index_of(stream) < numbers_.size();
  }
  void collect(const Clock& clock) {
    for (const Clock::Entry& entry : clock.entries()) {
      if (matters(entry.stream, entry.kernel))
        kernels_[index_of(entry.stream)].push_back(entry.kernel);
    }
  }
  void collect(const Point& point) {
    collect(point.before);
    if (point.done_at > gpu_.now) times_.push_back(point.done_at);
  }
  void collect() {
    gpu_.streams.for_each([&](StreamNumber number, const Point& tail) {
      const std::size_t index = index_of(number);
      if (index == numbers_.size()) return;
      tails_[index] = &tail;
      collect(tail);
    });
    for (const auto& [key, queue] : state_.queues.all()) {
      for (const PendingEvent& pending : queue) collect(gpu_.events.find(pending.event)->recorded);
    }
    gpu_.judge.held(0).for_each([&](const Ownership& held) { collect(held.start); });
    gpu_.judge.accesses().for_each_cell([&](Span span, const std::vector<Access>& accesses) {
      bool is_any = false;
      for (const Access& access : accesses) {
        if (!matters(access.stream, access.kernel)) continue;
        is_any = true;
        kernels_[index_of(access.stream)].push_back(access.kernel);
        if (access.done_at > gpu_.now) times_.push_back(access.done_at);
      }
      if (is_any) cells_.push_back({span, &accesses});
    });
    sort_once(times_);
    for (auto& kernels : kernels_) sort_once(kernels);
  }

  // ---- under one naming of the streams ----

  void list_segments() {
    segments_.clear();
    for (const auto& [begin, segment] : state_.heap.segments()) segments_.push_back(&segment);
    std::ranges::sort(segments_,
                      [&](const Segment* a, const Segment* b) { return key_of(*a) < key_of(*b); });
    blocks_.clear();
    for (const Segment* segment : segments_) {
      for (const Block* block = segment->first; block != nullptr; block = block->next)
        blocks_.push_back(block);
    }
  }
  // Ages and addresses count within one stream and pool alone.
  std::tuple<std::uint32_t, PoolKind, std::uint64_t> key_of(const Segment& segment) const {
    return {place(segment.stream), segment.pool->kind, segment.registration_counter};
  }
  std::uint32_t place(StreamId stream) const {
    const std::size_t index = index_of(stream);
    return index < place_of_.size() ? place_of_[index] : nobody;
  }
  std::uint32_t number(const Block* block) const {
    return static_cast<std::uint32_t>(std::ranges::find(blocks_, block) - blocks_.begin());
  }
  void say(std::uint64_t value) { words_.push_back(word(value)); }

  void say(const Segment& segment, const Order& order) {
    say(0x5e600000u | place(segment.stream) << 1 | static_cast<std::uint32_t>(segment.pool->kind));
    say(segment.span.size.count / block_granularity.count);
    for (const Block* block = segment.first; block != nullptr; block = block->next)
      say(*block, order);
    say_cells(segment.span);
  }

  // Of garbage collection, which looks at ages.
  bool is_candidate(const Block& block) const {
    return counts_ages_ && block.is_free() && !block.is_split() &&
           block.pool->kind == PoolKind::large;
  }
  void say(const Block& block, const Order& order) {
    say(block.size.count / block_granularity.count);
    say((block.allocated ? 1u : 0u) | static_cast<std::uint32_t>(block.event_count) << 1);
    if (!block.is_free()) say(block.requested_size.count);
    if (is_candidate(block))
      say(static_cast<std::uint64_t>(block.pool->searches - block.gc_count_base));
    if (!block.allocated) return;
    std::uint32_t uses = 0;
    for (const StreamKey user : state_.heap.uses(block)) uses |= 1u << place(user.id);
    say(uses);
    const Ownership* held = gpu_.judge.held(0).containing(block.span());
    if (held != nullptr) say(held->start, order);
  }

  void say(const Clock& clock, const Order& order) {
    for (const std::uint8_t stream : order) {
      const KernelNumber kernel = clock.of(numbers_[stream]);
      say(matters(numbers_[stream], kernel) ? rank(kernels_[stream], kernel) : 0);
    }
  }
  void say(const Point& point, const Order& order) {
    say(rank(times_, point.done_at));
    say(point.before, order);
  }

  // Of a cell of bytes: who has used them, as far as it may matter.
  void say_cells(Span segment) {
    const Words* last = nullptr;
    Address last_end{};
    Words said;
    for (const Cell& cell : cells_) {
      if (!segment.contains(cell.span.begin)) continue;
      Words next = accesses_of(cell);
      const bool goes_on = last != nullptr && last_end == cell.span.begin && next == said;
      if (!goes_on) {
        if (last != nullptr) say((last_end - segment.begin).count);
        say(0xacce0000u + next.size());
        say((cell.span.begin - segment.begin).count);
        words_.insert(words_.end(), next.begin(), next.end());
        said = std::move(next);
        last = &said;
      }
      last_end = cell.span.end();
    }
    if (last != nullptr) say((last_end - segment.begin).count);
  }
  Words accesses_of(const Cell& cell) const {
    std::vector<std::array<std::uint32_t, 4>> said;
    for (const Access& access : *cell.accesses) {
      if (!matters(access.stream, access.kernel)) continue;
      const std::size_t stream = index_of(access.stream);
      said.push_back({place_of_[stream], rank(kernels_[stream], access.kernel),
                      rank(times_, access.done_at), holder_bits(access)});
    }
    std::ranges::sort(said);
    Words flat;
    for (const auto& each : said) flat.insert(flat.end(), each.begin(), each.end());
    return flat;
  }
  // Ownerships that are over are all alike: no later one is the same.
  std::uint32_t holder_bits(const Access& access) const {
    const std::uint32_t covered = access.covered_in == 0 ? 0 : holder(access.covered_in) + 1;
    return holder(access.ownership) << 16 | covered << 2 | (access.is_read_only ? 2u : 0u) |
           (access.is_untold ? 1u : 0u);
  }
  std::uint32_t holder(simulator::OwnershipNumber ownership) const {
    std::uint32_t found = 0x1fff;
    gpu_.judge.held(0).for_each([&](const Ownership& held) {
      if (held.number == ownership) found = holder_at(held.range.begin);
    });
    return found;
  }
  std::uint32_t holder_at(Address address) const {
    const auto found =
        std::ranges::find_if(blocks_, [&](const Block* block) { return block->ptr == address; });
    return static_cast<std::uint32_t>(found - blocks_.begin());
  }

  void say_stream(std::uint8_t stream, const Order& order) {
    say(0x57000000u);
    if (tails_[stream] != nullptr) say(*tails_[stream], order);
    const StreamId id = now_.streams[stream];
    for (const PoolKind pool : {PoolKind::small, PoolKind::large}) {
      const StreamShare* share = state_.heap.pool(pool).find_share(id);
      say(share != nullptr && share->may_be_in_use ? 1 : 0);
    }
    say_queue({0, id}, order);
  }
  void say_queue(StreamKey key, const Order& order) {
    const auto queue = state_.queues.all().find(key);
    if (queue == state_.queues.all().end()) return;
    for (const PendingEvent& pending : queue->second) {
      say(0xe7e00000u | number(pending.block));
      say(gpu_.events.find(pending.event)->recorded, order);
    }
  }

  void say_device() {
    say(0xde000000u | (state_.lost ? static_cast<std::uint32_t>(*state_.lost) : 0));
    say(state_.limit ? state_.limit->count >> 9 : 0xffffffffu);
    for (const auto& [place, home] : state_.pools.homes()) say(home.unused.size());
    say(now_.world.free_memory(0).count >> 9);
    say(state_.heap.policy().max_split_size().count >> 9);
  }

  const Situation& now_;
  const DeviceState& state_;
  const Knowledge& gpu_;
  std::vector<StreamNumber> numbers_;  // By stream, here and below.
  std::vector<const Point*> tails_;
  std::vector<std::vector<KernelNumber>> kernels_;  // That matter, in order.
  std::vector<Ticks> times_;                        // That are to come, in order.
  std::vector<Cell> cells_;
  bool counts_ages_ = false;
  std::vector<std::uint32_t> place_of_;
  std::vector<const Segment*> segments_;
  std::vector<const Block*> blocks_;
  Words words_;
};

// free_memory() takes the GPU's mutex, which inspect() holds: so the state is looked at from a copy
// of the references, after the mutex is free again. Nobody else runs meanwhile.
template <class Act>
auto with_state(const Situation& now, Act&& act) {
  const testing::Machine& machine = now.world.machine();
  const DeviceState* state = nullptr;
  machine.allocator().device(0).inspect([&](const DeviceState& seen) { state = &seen; });
  std::optional<Knowledge> gpu;
  machine.gpu().inspect([&](const Knowledge& seen) { gpu.emplace(seen); });
  Canonical canonical(now, *state, *gpu);
  return act(canonical);
}

}  // namespace

std::uint64_t canonical(const Situation& now) {
  Order order(now.streams.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  return with_state(now, [&](Canonical& state) {
    std::uint64_t least = hash_of(state.words(order));
    while (now.scope.renames_streams && std::next_permutation(order.begin(), order.end()))
      least = std::min(least, hash_of(state.words(order)));
    return least;
  });
}

std::vector<std::uint32_t> canonical_words(const Situation& now) {
  Order order(now.streams.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  return with_state(now, [&](Canonical& state) { return state.words(order); });
}

}  // namespace cairn::exhaust
