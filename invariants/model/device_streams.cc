// Blocks that several streams use: record, free, and streams that come to their end.
#include <algorithm>
#include <utility>

#include "invariants/model/device_model.h"

namespace cairn::model {
namespace {

void add_use(std::vector<StreamKey>& uses, StreamKey user) {
  const auto at = std::lower_bound(uses.begin(), uses.end(), user);
  if (at == uses.end() || *at != user) uses.insert(at, user);
}

}  // namespace

bool DeviceModel::is_own_stream(Place place, StreamKey user) const {
  return policy_.is_own({device_, memory_.segment(place).stream}, user);
}

void DeviceModel::record_use(Place place, StreamKey user) {
  if (is_own_stream(place, user)) return;
  add_use(memory_.block(place).uses, user);
}

ErrorCode DeviceModel::free(Place place, std::optional<StreamKey> user) {
  std::vector<StreamKey> uses = memory_.block(place).uses;
  if (user && !is_own_stream(place, *user)) add_use(uses, *user);
  Fencing fencing;
  for (const StreamKey& use : uses) {
    if (is_lost_) break;  // Then it is bookkeeping alone.
    if (fence(use, fencing)) continue;
    put_back_all(fencing);
    return ErrorCode::cuda_error;
  }

  for (const Fencing::Fence& fence : fencing.fences) {
    Queue& queue = events_.queues[fence.queue];
    if (!fence.is_in_queue) queue.push_back({fence.event, {}});
    queue.back().waiting.push_back(memory_.block(place).ptr);
  }
  Block& block = memory_.block(place);
  block.allocated = false;
  block.uses.clear();
  block.event_count = fencing.fences.size();
  ledger_.block_given_back(memory_.segment(place).pool, block.size);
  if (!block.is_pending()) become_free(place);
  return ErrorCode::none;
}

ErrorCode DeviceModel::forget(StreamKey key) {
  if (!knows(key)) return ErrorCode::none;
  Fencing fencing;
  if (!is_lost_ && !fence(key, fencing)) {
    put_back_all(fencing);
    return ErrorCode::cuda_error;
  }
  const StreamKey retired{key.device, retired_stream(++retired_count_)};
  rename(key, retired);
  for (const Fencing::Fence& fence : fencing.fences) {
    events_.queues[retired].push_back({fence.event, {}});
    events_.fenced.insert(retired);
  }
  return ErrorCode::none;
}

bool DeviceModel::knows(StreamKey key) const {
  if (events_.queues.count(key) > 0) return true;
  for (const Segment& segment : memory_.segments) {
    if (StreamKey{device_, segment.stream} == key) return true;
    for (const Block& block : segment.blocks) {
      if (std::count(block.uses.begin(), block.uses.end(), key) > 0) return true;
    }
  }
  return false;
}

void DeviceModel::rename(StreamKey from, StreamKey to) {
  for (Segment& segment : memory_.segments) {
    if (StreamKey{device_, segment.stream} == from) segment.stream = to.id;
    for (Block& block : segment.blocks) {
      if (std::erase(block.uses, from) > 0) add_use(block.uses, to);
    }
  }
  if (from.device == device_) {
    std::replace(busy_streams_.begin(), busy_streams_.end(), from.id, to.id);
  }
  const auto queue = events_.queues.find(from);
  if (queue == events_.queues.end()) return;
  events_.queues[to] = std::move(queue->second);
  events_.queues.erase(from);
}

}  // namespace cairn::model
