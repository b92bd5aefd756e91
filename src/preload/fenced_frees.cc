#include "preload/fenced_frees.h"

#include <algorithm>
#include <atomic>
#include <new>

#include "preload/report.h"
#include "preload/say.h"

namespace cairn::preload {

bool FencedFrees::raise(DeviceService& service, std::vector<Fence>& fences) {
  Events& events = events_[&service];
  if (events.spare.empty()) {
    events.spare.reserve(events.made + 1);
    const auto made = service.driver().event_create(service.device(), ContextHandle{});
    if (!made) return false;
    ++events.made;
    events.spare.push_back(*made);
  }
  const EventHandle event = events.spare.back();
  if (!service.driver().ctx_record(service.device(), event)) return false;
  events.spare.pop_back();
  fences.push_back({&service, event});
  return true;
}

bool FencedFrees::add(const LiveBlock& block,
                      const std::vector<DeviceService*>& services) noexcept {
  const std::lock_guard lock(mutex_);
  std::vector<Fence> fences;
  bool is_held = false;
  try {
    fences.reserve(services.size());
    is_held = std::ranges::all_of(services,
                                  [&](DeviceService* service) { return raise(*service, fences); });
    if (is_held) entries_.push_back({block, fences});
  } catch (const std::bad_alloc&) {
    is_held = false;
  }
  if (!is_held) {
    for (const Fence& fence : fences) events_[fence.service].spare.push_back(fence.event);
  }
  return is_held;
}

// An event that gives an error is never used again: the whole device says instead what it would
// have said.
bool FencedFrees::is_done_without_event(const Fence& fence) {
  static std::atomic_flag was_said;
  say_once(was_said,
           "CAIRN_PRELOAD_FREE=event: an event gives an error; what it was to say is known by a "
           "synchronisation of its device instead");
  ++counts.synchronizations;
  SegmentDriver& driver = fence.service->driver();
  if (!driver.device_sync(fence.service->device())) return false;
  static_cast<void>(driver.event_destroy(fence.service->device(), fence.event));
  --events_[fence.service].made;
  return true;
}

bool FencedFrees::is_done(const Fence& fence, Look look) {
  SegmentDriver& driver = fence.service->driver();
  const int device = fence.service->device();
  if (look == Look::wait) {
    if (!driver.event_sync(device, fence.event)) return is_done_without_event(fence);
  } else {
    const auto done = driver.event_query(device, fence.event);
    if (!done) return is_done_without_event(fence);
    if (!*done) return false;
  }
  events_[fence.service].spare.push_back(fence.event);
  return true;
}

bool FencedFrees::give_back_those_done(Look look) {
  bool has_given = false;
  while (!entries_.empty()) {
    Entry& entry = entries_.front();
    while (!entry.fences.empty()) {
      if (!is_done(entry.fences.back(), look)) return has_given;
      entry.fences.pop_back();
    }
    entry.block.service->allocator().try_free(entry.block.pointer);
    entries_.pop_front();
    has_given = true;
  }
  return has_given;
}

void FencedFrees::collect() noexcept {
  const std::lock_guard lock(mutex_);
  give_back_those_done(Look::ask);
}

bool FencedFrees::wait() noexcept {
  const std::lock_guard lock(mutex_);
  return give_back_those_done(Look::wait);
}

void FencedFrees::drop(const DeviceService* service) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(entries_, [&](const Entry& entry) { return entry.block.service == service; });
  for (Entry& entry : entries_) {
    std::erase_if(entry.fences, [&](const Fence& fence) { return fence.service == service; });
  }
  std::erase_if(events_, [&](const auto& entry) { return entry.first == service; });
}

}  // namespace cairn::preload
