// Saboteurs of pending events: U7 to U10.
#include <gtest/gtest.h>

#include "allocator/device_state.h"
#include "invariants/checkers/saboteur.h"

namespace cairn::invariants {
namespace {

constexpr StreamKey used_by{0, {0x51}};
constexpr StreamKey forgotten{0, retired_stream(1)};

// Three blocks that wait, the first of them for two events; a retired stream whose fence is not
// done; an event that nobody uses.
struct SmallState {
  SmallState() : state(0, {}) {
    EventHome& home = state.pools.home(0, {});
    home.created = 5;
    home.unused = {EventHandle{5}};
    Block& first = handed_out();
    Block& second = handed_out();
    handed_out();  // Between these and the third.
    Block& third = handed_out();
    state.heap.free_after_events(first, 2);
    state.heap.free_after_events(second, 1);
    state.heap.free_after_events(third, 1);
    state.queues.all()[used_by] = {{{1}, &home, &first}, {{2}, &home, &second}};
    state.queues.all()[forgotten] = {{{3}, &home, nullptr}, {{3}, &home, &first}};
    state.queues.all()[{0, whole_context_stream}] = {{{4}, &home, &third}};
  }

  Block& handed_out() {
    const HeapRequest request{stream_0, 1000_B};
    const Block* block = state.heap.allocate(request);
    if (block == nullptr) {
      state.heap.reserve_segment(request);
      block = state.heap.allocate_in_new_segment(request, {small_begin, 2_MiB});
    }
    return writable(*block);
  }
  Block& last() {
    Block* block = state.heap.segments().begin()->second.first;
    while (block->next != nullptr && !block->next->is_free()) block = block->next;
    return *block;
  }
  EventQueues::Queue& queue(StreamKey stream) { return state.queues.all().at(stream); }

  Recorder dropped;
  DeviceState state;
};

TEST(SmallState, IsSound) {
  SmallState small;
  EXPECT_EQ(broken_in(small.state), Ids{});
}

TEST(Saboteur, U7_EventCountIsQueued) {
  SmallState small;
  ++small.last().event_count;
  EXPECT_EQ(broken_in(small.state), Ids{"U7"});
}

TEST(Saboteur, U7_EventOfABlockThatIsGone) {
  SmallState small;
  Block elsewhere;
  small.queue(used_by).push_back({{5}, small.queue(used_by).front().home, &elsewhere});
  writable(small.state.pools.homes()).begin()->second.unused.clear();
  EXPECT_EQ(broken_in(small.state), Ids{"U7"});
}

TEST(Saboteur, U8_EmptyQueue) {
  SmallState small;
  small.state.queues.all()[{0, {0x99}}];
  EXPECT_EQ(broken_in(small.state), Ids{"U8"});
}

TEST(Saboteur, U8_FenceInTheQueueOfALivingStream) {
  SmallState small;
  small.queue(used_by).push_back({{5}, small.queue(used_by).front().home, nullptr});
  writable(small.state.pools.homes()).begin()->second.unused.clear();
  EXPECT_EQ(broken_in(small.state), Ids{"U8"});
}

TEST(Saboteur, U9_LostEvent) {
  SmallState small;
  writable(small.state.pools.homes()).begin()->second.unused.clear();
  EXPECT_EQ(broken_in(small.state), Ids{"U9"});
}

TEST(Saboteur, U9_EventInItsPoolWhileABlockWaitsForIt) {
  SmallState small;
  writable(small.state.pools.homes()).begin()->second.unused = {EventHandle{1}};
  const Ids broken = broken_in(small.state);
  EXPECT_TRUE(contains(broken, "U9"));
}

TEST(Saboteur, U10_EventOfAnotherDevice) {
  SmallState small;
  auto queue = small.state.queues.all().extract(used_by);
  queue.key().device = 1;
  small.state.queues.all().insert(std::move(queue));
  EXPECT_EQ(broken_in(small.state), Ids{"U10"});
}

}  // namespace
}  // namespace cairn::invariants
