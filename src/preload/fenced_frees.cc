#include "preload/fenced_frees.h"

#include <new>

namespace cairn::preload {

bool FencedFrees::raise(DeviceService& service, Fence& fence) {
  std::vector<EventHandle>& spare = spare_[&service];
  fence.service = &service;
  if (spare.empty()) {
    const auto made = service.driver().event_create(service.device(), ContextHandle{});
    if (!made) return false;
    spare.push_back(*made);
  }
  fence.event = spare.back();
  if (!service.driver().ctx_record(service.device(), fence.event)) return false;
  spare.pop_back();
  return true;
}

bool FencedFrees::add(const LiveBlock& block,
                      const std::vector<DeviceService*>& services) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    entries_.push_back({block, std::vector<Fence>(services.size())});
    std::vector<Fence>& fences = entries_.back().fences;
    for (std::size_t raised = 0; raised < services.size(); ++raised) {
      if (raise(*services[raised], fences[raised])) continue;
      fences.resize(raised);
      spare_events_of(fences);
      entries_.pop_back();
      return false;
    }
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

void FencedFrees::spare_events_of(const std::vector<Fence>& fences) {
  for (const Fence& fence : fences) spare_[fence.service].push_back(fence.event);
}

bool FencedFrees::is_done(const Fence& fence, Look look) {
  SegmentDriver& driver = fence.service->driver();
  const int device = fence.service->device();
  if (look == Look::wait) return bool{driver.event_sync(device, fence.event)};
  const auto done = driver.event_query(device, fence.event);
  return done && *done;
}

bool FencedFrees::give_back_those_done(Look look) {
  bool has_given = false;
  while (!entries_.empty()) {
    Entry& entry = entries_.front();
    while (!entry.fences.empty()) {
      const Fence& fence = entry.fences.back();
      if (!is_done(fence, look)) return has_given;
      spare_[fence.service].push_back(fence.event);
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
  std::erase_if(spare_, [&](const auto& entry) { return entry.first == service; });
}

}  // namespace cairn::preload
