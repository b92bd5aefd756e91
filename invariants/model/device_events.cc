// Events: how a use is fenced by one, how they are looked at, and waited for.
#include <cstdint>

#include "invariants/model/device_model.h"

namespace cairn::model {

// On failure all that was taken is still to be put back.
bool DeviceModel::fence(StreamKey user, Fencing& fencing) {
  const Reach reach = streams_.reach(user);
  if (noted(reach.cuda_code) != success) return false;
  if (reach.way == Reach::Way::retired) {
    // Without a fence in its queue all its work is over.
    if (const auto fence = events_.fence(user)) fencing.fences.push_back({user, *fence, true});
    return true;
  }
  if (reach.way == Reach::Way::direct) {
    const Fenced fenced = fence_on_stream(user, reach.handle, fencing);
    if (fenced != Fenced::stream_is_gone) return fenced == Fenced::done;
  }
  return fence_on_context(user.device, fencing);
}

DeviceModel::Fenced DeviceModel::fence_on_stream(StreamKey user, std::uint64_t handle,
                                                 Fencing& fencing) {
  const bool makes_good = policy_.makes_good_for_dead_handles();
  Context context{user.device, 0};
  if (!policy_.is_default(user.id)) {
    const Environment::Number asked = environment_.stream_ctx(user.device, handle);
    if (noted(asked.cuda_code) == invalid_handle && makes_good) return Fenced::stream_is_gone;
    if (asked.cuda_code != success) return Fenced::failed;
    context.handle = asked.value;
  }
  if (!take_event(context, fencing)) return Fenced::failed;
  const Event event = fencing.taken.back();
  const int code = noted(environment_.event_record(user.device, handle, event.handle));
  if (code == invalid_handle && makes_good) {
    put_back_last(fencing);
    return Fenced::stream_is_gone;
  }
  if (code != success) return Fenced::failed;
  fencing.fences.push_back({user, event, false});
  return Fenced::done;
}

// Where the driver cannot record a whole context, its work is waited for, and is over then.
bool DeviceModel::fence_on_context(DeviceIndex device, Fencing& fencing) {
  if (!take_event({device, 0}, fencing)) return false;
  const Event event = fencing.taken.back();
  const int code = noted(environment_.ctx_record(device, event.handle));
  if (code == not_supported) {
    put_back_last(fencing);
    return noted(environment_.device_sync(device)) == success;
  }
  if (code != success) return false;
  fencing.fences.push_back({{device, whole_context_stream}, event, false});
  return true;
}

bool DeviceModel::take_event(Context context, Fencing& fencing) {
  if (const auto pooled = events_.take(context)) {
    fencing.taken.push_back(*pooled);
    return true;
  }
  const Environment::Number made = environment_.event_create(context.device, context.handle);
  if (noted(made.cuda_code) != success) return false;
  fencing.taken.push_back({made.value, context});
  return true;
}

void DeviceModel::put_back_last(Fencing& fencing) {
  events_.give_back(fencing.taken.back());
  fencing.taken.pop_back();
}

void DeviceModel::put_back_all(const Fencing& fencing) {
  for (const Event& event : fencing.taken) events_.give_back(event);
}

// False if a query failed; the other queues had their turn all the same, unless the device is lost.
bool DeviceModel::look_at_events() {
  bool all_answered = true;
  for (auto queue = events_.queues.begin(); queue != events_.queues.end() && !is_lost_;) {
    const StreamKey key = queue->first;
    ++queue;  // Before this one ends.
    if (!look_at_queue(key)) all_answered = false;
  }
  return all_answered;
}

// False if the query of its first event failed, which then is as one that is not done.
bool DeviceModel::look_at_queue(StreamKey key) {
  while (events_.queues.count(key) > 0) {
    const std::uint64_t event = events_.queues.at(key).front().event.handle;
    const Environment::Queried queried = environment_.event_query(key.device, event);
    if (noted(queried.cuda_code) != success) return false;
    if (!queried.is_done) return true;
    finish_first(key);
  }
  return true;
}

bool DeviceModel::wait_for_all_events() {
  ledger_.synchronized();  // Even where none is pending.
  while (!events_.queues.empty()) {
    const StreamKey key = events_.queues.begin()->first;
    const std::uint64_t event = events_.queues.at(key).front().event.handle;
    if (noted(environment_.event_sync(key.device, event)) != success) return false;
    finish_first(key);
  }
  return true;
}

// The first event of the queue is done.
void DeviceModel::finish_first(StreamKey queue) {
  const QueuedEvent done = events_.take_first(queue);
  events_.give_back(done.event);
  for (const Address address : done.waiting) {
    const auto place = memory_.block_at(address);
    if (--memory_.block(*place).event_count == 0) become_free(*place);
  }
}

ErrorCode DeviceModel::process_events() {
  if (is_lost_ || !look_at_events()) return ErrorCode::cuda_error;
  return ErrorCode::none;
}

}  // namespace cairn::model
