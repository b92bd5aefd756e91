// The events of the simulated devices. A handle is used once.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "driver/driver.h"
#include "simulator/clock.h"

namespace cairn::simulator {

struct Event {
  ContextHandle context;  // By its own handle.
  Point recorded;         // Nothing is before it in an event that was never recorded.
};

class Events {
 public:
  EventHandle make(ContextHandle context) {
    const EventHandle handle{first + step * made_++};
    events_[handle.value].context = context;
    return handle;
  }
  // Null: it was destroyed, or never made.
  Event* find(EventHandle handle) {
    const auto found = events_.find(handle.value);
    return found == events_.end() ? nullptr : &found->second;
  }
  const Event* find(EventHandle handle) const {
    const auto found = events_.find(handle.value);
    return found == events_.end() ? nullptr : &found->second;
  }
  // REQUIRES: it exists.
  void destroy(EventHandle handle) { events_.erase(handle.value); }
  // All of the context, by its own handle.
  void destroy_all(ContextHandle context) {
    std::erase_if(events_, [&](const auto& each) { return each.second.context == context; });
  }
  // REQUIRES: it does not exist.
  bool was_destroyed(EventHandle handle) const {
    return handle.value >= first && (handle.value - first) % step == 0 &&
           (handle.value - first) / step < made_;
  }
  std::size_t size() const { return events_.size(); }

 private:
  static constexpr std::uint64_t first = 0xe000;
  static constexpr std::uint64_t step = 0x10;

  std::unordered_map<std::uint64_t, Event> events_;
  std::uint64_t made_ = 0;
};

}  // namespace cairn::simulator
