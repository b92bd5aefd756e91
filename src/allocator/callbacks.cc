#include "allocator/callbacks.h"
#include "invariants/catalogue/hook.h"

#include <algorithm>
#include <exception>
#include <utility>

namespace cairn {
namespace {

// What runs on this thread, so that it is not run again inside of itself.
thread_local bool is_in_callback = false;  // Of free_memory().
thread_local bool is_in_observer = false;  // Of tell().

class Running {
 public:
  explicit Running(bool& is_running) : is_running_(is_running) { is_running_ = true; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() { is_running_ = false; }

 private:
  bool& is_running_;
};

// Calls, and gives in words what was thrown; empty where nothing was.
template <class Call>
std::string what_is_thrown(const char* who, Call&& call) {
  try {
    call();
    return {};
  } catch (const std::exception& thrown) {
    CAIRN_PROBE("callback.threw");
    return std::string(" ") + who + " threw: " + thrown.what() + ".";
  } catch (...) {
    CAIRN_PROBE("callback.threw_no_exception");
    return std::string(" ") + who + " threw something that is no std::exception.";
  }
}

template <class List, class Call>
CallbackId add_to(List& list, std::uint64_t& last_id, const std::shared_ptr<Call>& call) {
  const CallbackId id{last_id + 1};
  list.push_back({id, call});
  ++last_id;
  return id;
}

}  // namespace

// What a callback holds is moved, and destroyed if there is no room for it, without the lock.
CallbackId Callbacks::add(FreeMemory callback) {
  const auto shared = std::make_shared<const FreeMemory>(std::move(callback));
  const auto lists = lists_.lock();
  return add_to(lists->free_memory, lists->last_id, shared);
}

CallbackId Callbacks::add(OutOfMemoryObserver observer) {
  const auto shared = std::make_shared<const OutOfMemoryObserver>(std::move(observer));
  const auto lists = lists_.lock();
  return add_to(lists->observers, lists->last_id, shared);
}

void Callbacks::remove(CallbackId id) noexcept {
  // What they hold is destroyed without the lock, since that is foreign code too.
  std::shared_ptr<const FreeMemory> callback;
  std::shared_ptr<const OutOfMemoryObserver> observer;
  const auto take = [id](auto& list, auto& taken) {
    const auto found = std::ranges::find(list, id, [](const auto& each) { return each.id; });
    if (found == list.end()) return;
    taken = std::move(found->call);
    list.erase(found);
  };
  const auto lists = lists_.lock();
  take(lists->free_memory, callback);
  take(lists->observers, observer);
}

bool Callbacks::can_free_memory() const {
  return !is_in_callback && !lists_.lock()->free_memory.empty();
}

bool Callbacks::free_memory(DeviceIndex device, std::string& complaints) {
  const auto asked = lists_.lock()->free_memory;
  bool freed = false;
  const Running running(is_in_callback);
  for (const auto& each : asked) {
    complaints +=
        what_is_thrown("A free-memory callback", [&] { freed = (*each.call)(device) || freed; });
  }
  return freed;
}

void Callbacks::tell(Error& error) {
  if (is_in_observer) return;
  const auto told = lists_.lock()->observers;
  const Running running(is_in_observer);
  std::string complaints;
  for (const auto& each : told) {
    complaints += what_is_thrown("An out-of-memory observer", [&] { (*each.call)(error); });
  }
  error.message += complaints;
}

}  // namespace cairn
