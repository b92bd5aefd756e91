// The events that were recorded and are not known to be done: a queue for each stream on which they
// were recorded, in order of recording, which is the order in which they are done. So a stream that
// is stuck holds up none but its own. An event for which several blocks wait stands there once for
// each, one behind the other; an entry without a block is the fence of a retired stream, for which
// blocks may still come to wait.
//
// No queue is empty. Not thread-safe.
#pragma once

#include <algorithm>
#include <list>
#include <map>

#include "allocator/event_pools.h"
#include "base/ids.h"
#include "heap/block.h"

namespace cairn {

struct PendingEvent {
  EventHandle event;
  EventHome* home = nullptr;
  Block* block = nullptr;
};

class EventQueues {
 public:
  using Queue = std::list<PendingEvent>;
  using Queues = std::map<StreamKey, Queue>;

  bool are_empty() const { return queues_.empty(); }
  const Queues& all() const { return queues_; }
  Queues& all() { return queues_; }

  // Puts each queue's entries behind those that are there.
  void append(Queues&& more) noexcept {
    while (!more.empty()) {
      auto node = more.extract(more.begin());
      const auto there = queues_.find(node.key());
      if (there == queues_.end()) {
        queues_.insert(std::move(node));
      } else {
        there->second.splice(there->second.end(), node.mapped());
      }
    }
  }
  // The fence of a retired stream, as long as it is not known to be done; else null.
  const PendingEvent* fence(StreamKey retired) const {
    const auto queue = queues_.find(retired);
    if (queue == queues_.end()) return nullptr;
    const auto found = std::ranges::find(queue->second, nullptr, &PendingEvent::block);
    return found == queue->second.end() ? nullptr : &*found;
  }
  // What stood under one stream stands under another, of which nothing stood.
  void rename(StreamKey from, StreamKey to) noexcept {
    auto node = queues_.extract(from);
    if (node.empty()) return;
    node.key() = to;
    queues_.insert(std::move(node));
  }

 private:
  Queues queues_;
};

}  // namespace cairn
