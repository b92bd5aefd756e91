// The events of one device's allocator: pools of those that wait for nothing, and queues of those
// that were recorded and are not known to be done, each with the blocks that wait for it. A queue
// that is empty does not exist.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/units.h"

namespace cairn::model {

// The context that an event was made in; 0 is the device's primary one.
struct Context {
  DeviceIndex device = 0;
  std::uint64_t handle = 0;

  friend constexpr auto operator<=>(const Context&, const Context&) = default;
};

struct Event {
  std::uint64_t handle = 0;  // Never 0 of an event that exists.
  Context context;
};

struct QueuedEvent {
  Event event;
  std::vector<Address> waiting;  // Starts of pending blocks, in the order in which they came.
};

using Queue = std::deque<QueuedEvent>;

struct Events {
  std::map<Context, std::vector<std::uint64_t>> pools;  // The last one is taken first.
  std::map<StreamKey, Queue> queues;
  // The retired streams with a fence: the last event of their queue stands for all their work. When
  // the queue is gone, or where there is no fence, that work is over.
  std::set<StreamKey> fenced;

  std::optional<Event> take(Context context) {
    std::vector<std::uint64_t>& pool = pools[context];
    if (pool.empty()) return std::nullopt;
    const Event taken{pool.back(), context};
    pool.pop_back();
    return taken;
  }

  void give_back(const Event& event) { pools[event.context].push_back(event.handle); }

  // Takes the first event out of the queue, which may end with it.
  QueuedEvent take_first(StreamKey key) {
    Queue& queue = queues.at(key);
    QueuedEvent first = std::move(queue.front());
    queue.pop_front();
    if (queue.empty()) queues.erase(key);
    return first;
  }

  // The fence of a retired stream, if it is still in its queue.
  std::optional<Event> fence(StreamKey retired) const {
    const auto queue = queues.find(retired);
    if (fenced.count(retired) == 0 || queue == queues.end()) return std::nullopt;
    return queue->second.back().event;
  }
};

}  // namespace cairn::model
