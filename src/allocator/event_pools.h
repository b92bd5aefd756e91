// The events of one device's allocator that nobody uses now, by the context that they belong to,
// last in first out. An event is in a pool or in one queue (or about to be), and lives until the
// end.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "driver/driver.h"

namespace cairn {

// Where an event belongs.
struct EventHome {
  DeviceIndex device = 0;
  ContextHandle context;
  std::vector<EventHandle> unused;  // Has room for all that were created.
  std::size_t created = 0;

  void give_back(EventHandle event) noexcept { unused.push_back(event); }
  // For one more that is created. Throws std::bad_alloc, and then nothing has changed.
  void make_room() {
    if (unused.capacity() <= created) unused.reserve(2 * created + 8);
  }
};

class EventPools {
 public:
  using Homes = std::map<std::pair<DeviceIndex, ContextHandle>, EventHome>;

  // The pool of a context. Throws std::bad_alloc, and then nothing has changed.
  EventHome& home(DeviceIndex device, ContextHandle context) {
    return homes_.try_emplace({device, context}, EventHome{device, context, {}, 0}).first->second;
  }
  const Homes& homes() const { return homes_; }

 private:
  Homes homes_;
};

}  // namespace cairn
