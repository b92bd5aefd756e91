#include "preload/services.h"

#include <pthread.h>

#include <string>

#include "preload/say.h"
#include "preload/settings.h"

namespace cairn::preload {
namespace {

constinit std::atomic<bool> is_in_child{false};

}  // namespace

bool Services::is_child() { return is_in_child.load(std::memory_order_relaxed); }

DeviceService* Services::of(int device) {
  if (DeviceService* made = if_made(device)) return made;
  if (!can_serve() || device < 0 || device >= max_devices) return nullptr;
  const std::lock_guard lock(mutex_);
  DeviceService* made = if_made(device);
  return made != nullptr ? made : make(device);
}

DeviceService* Services::make(int device) {
  std::string why = settings().fault;
  DeviceService* const made = why.empty() ? DeviceService::make(device, why) : nullptr;
  if (made == nullptr) {
    if (why.empty()) return nullptr;  // The host has no memory now.
    static std::atomic_flag was_said;
    say_once(was_said, "nothing is served, all goes on to the runtime: " + why);
    has_given_up_ = true;
    return nullptr;
  }
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { is_in_child.store(true, std::memory_order_relaxed); });
  static_cast<void>(registered);
  made_[static_cast<std::size_t>(device)] = made;
  return made;
}

std::vector<DeviceService*> Services::all() const {
  std::vector<DeviceService*> all;
  for (const auto& made : made_) {
    if (DeviceService* service = made.load()) all.push_back(service);
  }
  return all;
}

bool Services::have(const void* pointer) const {
  for (const auto& made : made_) {
    const DeviceService* const service = made.load();
    if (service != nullptr && service->has(pointer)) return true;
  }
  return false;
}

DeviceService* Services::give_up(int device) {
  DeviceService* const service = if_made(device);
  if (service == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  made_[static_cast<std::size_t>(device)] = nullptr;
  given_up_.push_back(service);
  return service;
}

}  // namespace cairn::preload
