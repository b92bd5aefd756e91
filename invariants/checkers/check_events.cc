// The promises of a device's allocator on its pending events (U7 to U10), and of the heap in it.
#include <cstdint>
#include <map>

#include "allocator/device_state.h"
#include "base/in_words.h"
#include "invariants/checkers/checkers.h"

namespace cairn::invariants {
namespace {

std::string in_words(StreamKey stream) {
  return "stream " + cairn::in_words(Address{stream.id.value}) + on_device(stream.device);
}

std::string in_words(EventHandle event) { return "event " + cairn::in_words(Address{event.value}); }

// Where an event was found: in how many pools and runs of a queue.
using Places = std::map<std::pair<const EventHome*, EventHandle>, std::uint64_t>;

void check_fence(StreamKey stream) {
  expect(is_retired(stream.id), event_queue_sound,
         [&] { return "a fence in the queue of " + in_words(stream); });
}

void check_queue(StreamKey stream, const EventQueues::Queue& queue, Places& places) {
  expect(!queue.empty(), event_queue_sound, [&] { return "empty queue of " + in_words(stream); });
  EventHandle last{};
  for (const PendingEvent& pending : queue) {
    expect(pending.home->device == stream.device, event_of_stream_device, [&] {
      return in_words(pending.event) + on_device(pending.home->device) + " for " + in_words(stream);
    });
    if (pending.block == nullptr) check_fence(stream);
    if (pending.event != last) ++places[{pending.home, pending.event}];
    last = pending.event;
  }
}

void check_places(const DeviceState& state, Places& places) {
  for (const auto& [where, home] : state.pools.homes()) {
    for (const EventHandle event : home.unused) ++places[{&home, event}];
  }
  std::map<const EventHome*, std::size_t> found;
  for (const auto& [event, count] : places) {
    ++found[event.first];
    expect(count == 1, event_in_one_place, [&, which = event.second, times = count] {
      return in_words(which) + " is in " + std::to_string(times) + " places";
    });
  }
  for (const auto& [where, home] : state.pools.homes()) {
    expect(found[&home] == home.created, event_in_one_place, [&, &its = home] {
      return std::to_string(its.created) + " events were created" + on_device(its.device) +
             ", and " + std::to_string(found[&its]) + " are there";
    });
  }
}

using Counts = std::map<const Block*, std::int32_t>;

// How many entries of the queues stand for each block.
Counts count_queued(const EventQueues& queues) {
  Counts queued;
  for (const auto& [stream, queue] : queues.all()) {
    for (const PendingEvent& pending : queue) {
      if (pending.block != nullptr) ++queued[pending.block];
    }
  }
  return queued;
}

void check_event_counts(const DeviceState& state) {
  Counts queued = count_queued(state.queues);
  const auto check_count = [&](const Block& block) {
    const auto node = queued.extract(&block);
    const std::int32_t count = node.empty() ? 0 : node.mapped();
    expect(block.event_count == count, event_count_is_queued, [&] {
      return describe(block) + " has event_count " + std::to_string(block.event_count) + ", and " +
             std::to_string(count) + " events stand for it";
    });
  };
  for (const auto& [address, segment] : state.heap.segments()) {
    for (const Block* block = segment.first; block != nullptr; block = block->next) {
      check_count(*block);
    }
  }
  expect(queued.empty(), event_count_is_queued,
         [] { return std::string("an event stands for a block that is in no segment"); });
}

bool can_walk(const Heap& heap) {
  for (const auto& [address, segment] : heap.segments()) {
    if (!check_chain(segment)) return false;
  }
  return true;
}

}  // namespace

void check(const DeviceState& state, Cost dearest) {
  check(state.heap, dearest);
  if (dearest < Cost::heap) return;
  Places places;
  for (const auto& [stream, queue] : state.queues.all()) check_queue(stream, queue, places);
  check_places(state, places);
  if (can_walk(state.heap)) check_event_counts(state);
}

}  // namespace cairn::invariants
