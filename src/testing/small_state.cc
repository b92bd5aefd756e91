#include "testing/small_state.h"

#include <algorithm>

#include "testing/machine.h"
#include "testing/world.h"

namespace cairn::testing {
namespace {

class Look {
 public:
  Look(const World& world, std::span<const StreamId> streams) : world_(world), streams_(streams) {}

  SmallState of(const DeviceState& state) {
    SmallState small;
    for (const auto& [begin, segment] : state.heap.segments()) {
      small.segments.push_back({segment.span.size, segment.pool->kind, number(segment.stream)});
      for (const Block* block = segment.first; block != nullptr; block = block->next)
        small.blocks.push_back(small_block(*block, small.segments.size() - 1, state));
    }
    for (const auto& [place, home] : state.pools.homes()) small.unused_events += home.unused.size();
    small.lost = state.lost;
    return small;
  }

 private:
  int number(StreamId stream) const {
    const auto found = std::ranges::find(streams_, stream);
    return found == streams_.end() ? -1 : static_cast<int>(found - streams_.begin());
  }

  SmallBlock small_block(const Block& block, std::size_t segment, const DeviceState& state) const {
    SmallBlock small{segment, block.ptr - block.segment->span.begin, block.size, {}, {}, 0, {}};
    small.stream = number(block.stream);
    if (block.is_free()) return small;
    small.requested = block.requested_size;
    small.state = block.allocated ? SmallBlockState::live : SmallBlockState::pending;
    if (block.allocated) {
      for (const StreamKey user : state.heap.uses(block))
        small.uses.push_back({number(user.id), SmallUseState::recorded});
    } else {
      add_events(block, state, small);
    }
    return small;
  }

  void add_events(const Block& block, const DeviceState& state, SmallBlock& small) const {
    for (const auto& [stream, queue] : state.queues.all()) {
      for (const PendingEvent& pending : queue) {
        if (pending.block != &block) continue;
        small.uses.push_back(
            {number(stream.id), is_done(pending) ? SmallUseState::done : SmallUseState::running});
      }
    }
  }

  bool is_done(const PendingEvent& pending) const {
    return world_.machine().gpu().inspect([&](const simulator::SimulatedGpu::Knowledge& knowledge) {
      const simulator::Event* event = knowledge.events.find(pending.event);
      return event == nullptr || event->recorded.done_at <= knowledge.now;
    });
  }

  const World& world_;
  std::span<const StreamId> streams_;
};

}  // namespace

SmallState small_state(const World& world, DeviceIndex device, std::span<const StreamId> streams) {
  return world.machine().allocator().device(device).inspect(
      [&](const DeviceState& state) { return Look(world, streams).of(state); });
}

}  // namespace cairn::testing
