#include "allocator/event_progress.h"

#include "allocator/error_text.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

using Queue = EventQueues::Queue;

// The first event of the queue is done, and with it all entries that stand for it.
void complete_first(Queue& queue, Heap& heap) {
  const PendingEvent done = queue.front();
  while (!queue.empty() && queue.front().event == done.event) {
    Block* block = queue.front().block;
    queue.pop_front();
    if (block != nullptr) heap.event_done(*block);
  }
  done.home->give_back(done.event);
}

Error event_error(DriverCall call, const PendingEvent& pending, CudaStatus status) {
  return cuda_error(call, event_in_words(pending), pending.home->device, status);
}

Result<Done, Error> look_at(Queue& queue, DeviceState& state, Driver& driver) {
  while (!queue.empty()) {
    const PendingEvent& first = queue.front();
    const auto done = state.noted(driver.event_query(first.home->device, first.event));
    if (!done) {
      CAIRN_PROBE("event_query.failed");
      return Failure{event_error(DriverCall::event_query, first, done.error())};
    }
    if (!*done) return Done{};
    complete_first(queue, state.heap);
  }
  return Done{};
}

Result<Done, Error> wait_for(Queue& queue, DeviceState& state, Driver& driver) {
  while (!queue.empty()) {
    const PendingEvent& first = queue.front();
    const auto done = state.noted(driver.event_sync(first.home->device, first.event));
    if (!done) {
      CAIRN_PROBE("event_sync.failed");
      return Failure{event_error(DriverCall::event_sync, first, done.error())};
    }
    complete_first(queue, state.heap);
  }
  return Done{};
}

// Drops queues that became empty, also where the words of a failure find no memory.
class EmptyQueuesDropped {
 public:
  explicit EmptyQueuesDropped(EventQueues& queues) : queues_(queues) {}
  EmptyQueuesDropped(const EmptyQueuesDropped&) = delete;
  EmptyQueuesDropped& operator=(const EmptyQueuesDropped&) = delete;
  ~EmptyQueuesDropped() {
    std::erase_if(queues_.all(), [](const auto& queue) { return queue.second.empty(); });
  }

 private:
  EventQueues& queues_;
};

}  // namespace

Result<Done, Error> look_at_events(DeviceState& state, Driver& driver) {
  const EmptyQueuesDropped dropped(state.queues);
  Result<Done, Error> looked = Done{};
  for (auto& [stream, queue] : state.queues.all()) {
    const auto one = look_at(queue, state, driver);
    if (state.lost) {
      CAIRN_PROBE("look_at_events.lost");
      return one;
    }
    if (!one && looked) {
      CAIRN_PROBE("look_at_events.first_failure");
      looked = one;
    }
  }
  return looked;
}

Result<Done, Error> wait_for_all_events(DeviceState& state, Driver& driver) {
  const EmptyQueuesDropped dropped(state.queues);
  state.heap.ledger().synced_all_streams();
  for (auto& [stream, queue] : state.queues.all()) {
    auto waited = wait_for(queue, state, driver);
    if (!waited) {
      CAIRN_PROBE("wait_for_all_events.failed");
      return waited;
    }
  }
  return Done{};
}

Result<Done, Error> wait_for_events_of(StreamKey stream, DeviceState& state, Driver& driver) {
  const auto queue = state.queues.all().find(stream);
  if (queue == state.queues.all().end()) return Done{};
  EventHandle last{};
  for (const PendingEvent& pending : queue->second) {
    if (pending.event == last) continue;
    last = pending.event;
    const auto done = state.noted(driver.event_sync(pending.home->device, last));
    if (!done) {
      CAIRN_PROBE("event_sync_of_retired.failed");
      return Failure{event_error(DriverCall::event_sync, pending, done.error())};
    }
  }
  return Done{};
}

}  // namespace cairn
