#include "abstraction.h"

#include <algorithm>
#include <iterator>

#include "allocator/device_state.h"

namespace cairn::protocol {
namespace {

enum State { nothing, free_block, live, pending };  // As the model numbers them.

bool is_indexed(const Block& block, const Heap& heap) {
  for (const PoolKind kind : {PoolKind::small, PoolKind::large}) {
    for (const auto& [stream, share] : heap.pool(kind).shares) {
      for (const Block* b = share.index.smallest(); b != nullptr; b = share.index.after(*b)) {
        if (b == &block) return stream == block.stream && kind == block.pool->kind;
      }
    }
  }
  return false;
}

int events_out(const EventPools& pools) {
  std::size_t count = 0;
  for (const auto& [place, home] : pools.homes()) count += home.created - home.unused.size();
  return static_cast<int>(count);
}

// Of what the driver has out, segments and others.
void follow(const std::vector<Span>& out, Slots& slots) {
  const auto is_out = [&](Address address) {
    return std::ranges::find(out, address, &Span::begin) != out.end();
  };
  std::erase_if(slots, [&](const auto& slot) { return !is_out(slot.first); });
  for (const Span& span : out) {
    if (slots.contains(span.begin)) continue;
    int lowest = 0;
    while (std::ranges::any_of(slots, [&](const auto& slot) { return slot.second == lowest; })) {
      ++lowest;
    }
    slots[span.begin] = lowest;
  }
}

void append(Abstract& to, const std::vector<int>& what) {
  to.insert(to.end(), what.begin(), what.end());
}

int pending_count(const Heap& heap) {
  const auto& blocks = heap.ledger().pending().blocks;
  return static_cast<int>(blocks[0] + blocks[1]);
}

int count_of(const StatArray& statistic) { return static_cast<int>(statistic.all.current); }

}  // namespace

int Abstraction::number(StreamId stream) const {
  const auto found = std::ranges::find(streams_, stream);
  return found == streams_.end() ? -1 : static_cast<int>(found - streams_.begin());
}

int Abstraction::in_granules(Bytes size) const {
  return static_cast<int>(size.count / bounds_.granule.count);
}

bool Abstraction::fits(const DeviceState& state) const {
  if (state.heap.segments().size() > static_cast<std::size_t>(bounds_.segments)) return false;
  for (const auto& [address, segment] : state.heap.segments()) {
    if (segment.span.size > bounds_.granule * static_cast<std::uint64_t>(bounds_.granules)) {
      return false;
    }
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      if (!is_multiple(block->size, bounds_.granule)) return false;
    }
  }
  return true;
}

std::vector<int> Abstraction::of_block(const Block& block, const DeviceState& state) const {
  const Heap& heap = state.heap;
  const int kind = block.is_free() ? free_block : block.allocated ? live : pending;
  const int requested = kind == free_block ? 0 : in_granules(block.requested_size);
  std::vector<int> all{kind,
                       in_granules(block.size),
                       requested,
                       number(block.stream),
                       is_indexed(block, heap),
                       heap.find_live(block.ptr) == &block};
  std::array<int, stream_count> uses{};
  for (const StreamKey use : heap.uses(block)) {
    if (number(use.id) >= 0) ++uses[static_cast<std::size_t>(number(use.id))];
  }
  std::array<int, stream_count> queued{};
  for (const auto& [stream, queue] : state.queues.all()) {
    const auto entries = std::ranges::count(queue, &block, &PendingEvent::block);
    if (number(stream.id) >= 0) {
      queued[static_cast<std::size_t>(number(stream.id))] = static_cast<int>(entries);
    }
  }
  all.insert(all.end(), uses.begin(), uses.end());
  all.push_back(block.event_count);
  all.insert(all.end(), queued.begin(), queued.end());
  return all;
}

Abstract Abstraction::of(const DeviceState& state, const std::vector<Span>& out,
                         Slots& slots) const {
  if (!fits(state)) return {};
  const Heap& heap = state.heap;
  follow(out, slots);
  if (slots.size() > static_cast<std::size_t>(bounds_.segments)) return {};
  const auto segments = static_cast<std::size_t>(bounds_.segments);
  const auto granules = static_cast<std::size_t>(bounds_.granules);
  std::vector<int> lengths(segments);
  std::vector<int> owners(segments);
  std::vector<std::vector<int>> blocks(segments * granules, std::vector<int>(13));
  for (const auto& [address, segment] : heap.segments()) {
    if (!slots.contains(address)) return {};  // The driver does not have it out.
    const auto slot = static_cast<std::size_t>(slots.at(address));
    lengths[slot] = in_granules(segment.span.size);
    owners[slot] = number(segment.stream);
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      const auto granule = static_cast<std::size_t>(in_granules(block->ptr - address));
      blocks[slot * granules + granule] = of_block(*block, state);
    }
  }
  Abstract all = lengths;
  append(all, owners);
  for (const std::vector<int>& block : blocks) append(all, block);
  for (const StreamId stream : streams_) all.push_back(heap.may_be_in_use(stream));
  const int events = bounds_.segments * bounds_.granules * (stream_count - 1);
  const DeviceStats stats = heap.ledger().read();
  append(all, {events - events_out(state.pools), state.lost.has_value(), count_of(stats.allocation),
               count_of(stats.active), pending_count(heap), count_of(stats.inactive_split),
               count_of(stats.segment)});
  std::vector<int> is_out(segments);
  for (const Span& span : out) {
    is_out[static_cast<std::size_t>(slots.at(span.begin))] = 1;
  }
  append(all, is_out);
  return all;
}

std::string in_text(const Abstract& state) {
  std::string text;
  for (const int value : state) {
    if (!text.empty()) text += ' ';
    text += std::to_string(value);
  }
  return text;
}

}  // namespace cairn::protocol
