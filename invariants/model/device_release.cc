// Which segments go back to the driver, in what order, and what is waited for before.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "invariants/model/device_model.h"

namespace cairn::model {

// Without a limit, or a threshold, nothing is collected, and no age is counted.
bool DeviceModel::collects_garbage() const {
  return limit_.has_value() && options_.garbage_collection_threshold > 0.0;
}

bool DeviceModel::collect_garbage() {
  const double border = options_.garbage_collection_threshold * static_cast<double>(limit_->count);
  const auto threshold = static_cast<std::uint64_t>(border);
  const auto reserved = static_cast<std::uint64_t>(stats().reserved_bytes.all.current);
  if (reserved <= threshold) return true;
  const Bytes target{reserved - threshold};

  std::vector<Candidate> left = garbage();
  Bytes released;
  while (released < target && !left.empty()) {
    const auto by_this_pass = collect_once(left);
    if (!by_this_pass) return false;
    if (*by_this_pass == Bytes{0}) break;
    released += *by_this_pass;
  }
  return true;
}

std::vector<DeviceModel::Candidate> DeviceModel::garbage() {
  std::vector<Candidate> found;
  for (const Place place : memory_.free_segments(PoolKind::large, options_.best_fit_tie)) {
    const Block& block = memory_.block(place);
    const auto age = static_cast<std::int32_t>(searches(PoolKind::large) - block.free_since);
    found.push_back({{block.ptr, block.size}, age});
  }
  return found;
}

// Releases those of the mean age and above, and leaves the younger ones in `left`. Nothing if the
// driver failed.
std::optional<Bytes> DeviceModel::collect_once(std::vector<Candidate>& left) {
  std::int64_t ages = 0;
  for (const Candidate& candidate : left) ages += candidate.age;
  const double limit_age = static_cast<double>(ages) / static_cast<double>(left.size());
  Bytes released;
  std::vector<Candidate> younger;
  for (const Candidate& candidate : left) {
    if (candidate.age < limit_age) {
      younger.push_back(candidate);
      continue;
    }
    if (!release(candidate.span.begin)) return std::nullopt;
    released += candidate.span.size;
  }
  left = std::move(younger);
  return released;
}

// One segment large enough by itself, the best fit; else from the largest down those of
// max_split_size and above, until together they are enough.
DeviceModel::Release DeviceModel::release_oversize(const Wanted& wanted) {
  const Bytes needed{std::max(wanted.size.count, options_.max_split_size_bytes)};
  std::vector<Span> candidates;
  for (const Place place : memory_.free_segments(wanted.pool, options_.best_fit_tie)) {
    const Segment& segment = memory_.segment(place);
    if (segment.stream == wanted.stream) candidates.push_back(segment.span);
  }
  for (const Span& candidate : candidates) {
    if (candidate.size < needed) continue;
    return release(candidate.begin) ? Release::enough : Release::driver_failed;
  }
  std::reverse(candidates.begin(), candidates.end());
  Bytes released;
  for (const Span& candidate : candidates) {
    if (released >= needed || candidate.size.count < options_.max_split_size_bytes) break;
    if (!release(candidate.begin)) return Release::driver_failed;
    released += candidate.size;
  }
  return released >= needed ? Release::enough : Release::not_enough;
}

// All free segments, the large pool's first.
bool DeviceModel::release_all() {
  for (const PoolKind pool : {PoolKind::large, PoolKind::small}) {
    std::vector<Address> leaving;
    for (const Place place : memory_.free_segments(pool, options_.best_fit_tie)) {
      leaving.push_back(memory_.segment(place).span.begin);
    }
    for (const Address segment : leaving) {
      if (!release(segment)) return false;
    }
  }
  return true;
}

// What the driver refuses stays cached.
bool DeviceModel::release(Address address) {
  const auto place = memory_.block_at(address);
  const Segment& segment = memory_.segment(*place);
  if (policy_.waits_before_release() && !wait_for_stream(segment.stream)) return false;
  if (noted(environment_.free(device_, address)) != success) return false;
  ledger_.segment_went(segment.pool, segment.span.size);
  ledger_.driver_took();
  memory_.segments.erase(memory_.segments.begin() + static_cast<std::ptrdiff_t>(place->segment));
  return true;
}

// For the work that may still use the stream's free blocks.
bool DeviceModel::wait_for_stream(StreamId stream) {
  const auto busy = std::find(busy_streams_.begin(), busy_streams_.end(), stream);
  if (busy == busy_streams_.end()) return true;
  if (wait_by_its_reach(stream) != success) return false;
  busy_streams_.erase(busy);
  return true;
}

int DeviceModel::wait_by_its_reach(StreamId stream) {
  const StreamKey key{device_, stream};
  const Reach reach = streams_.reach(key);
  if (noted(reach.cuda_code) != success) return reach.cuda_code;
  if (reach.way == Reach::Way::direct) {
    const int code = noted(environment_.stream_sync(device_, reach.handle));
    if (code != invalid_handle) return code;
  }
  if (reach.way != Reach::Way::retired) return noted(environment_.device_sync(device_));

  // Its events stay in the queue, for the next look.
  const auto queue = events_.queues.find(key);
  if (queue == events_.queues.end()) return success;
  for (const QueuedEvent& each : queue->second) {
    const int code = noted(environment_.event_sync(device_, each.event.handle));
    if (code != success) return code;
  }
  return success;
}

ErrorCode DeviceModel::empty_cache() {
  if (is_lost_ || !wait_for_all_events() || !release_all()) return ErrorCode::cuda_error;
  return ErrorCode::none;
}

}  // namespace cairn::model
