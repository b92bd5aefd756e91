// What other streams of a Heap use, what of it waits for events, and the end of streams.
#include <algorithm>
#include <utility>

#include "heap/heap.h"
#include "invariants/catalogue/hook.h"

namespace cairn {
namespace {

// False where it is there already.
bool insert_use(std::vector<StreamKey>& uses, StreamKey stream) {
  const auto place = std::lower_bound(uses.begin(), uses.end(), stream);
  if (place != uses.end() && *place == stream) return false;
  uses.insert(place, stream);
  return true;
}

}  // namespace

std::span<const StreamKey> Heap::uses(const Block& block) const {
  if (block.cold == nullptr) return {};
  return block.cold->stream_uses;
}

bool Heap::is_own_stream(const Block& block, StreamKey stream) const {
  if (stream.id != block.stream) return false;
  return stream.device == device_ || !deviations_.tells_devices_apart;
}

bool Heap::add_use(Block& block, StreamKey stream) {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(uses_while_live, block.allocated);
  if (is_own_stream(block, stream)) return false;
  if (block.cold != nullptr) return insert_use(block.cold->stream_uses, stream);
  std::vector<StreamKey> uses(1, stream);
  ColdBlockFields& cold = cold_fields_.try_emplace(block.ptr).first->second;
  cold.stream_uses.swap(uses);
  block.cold = &cold;
  return true;
}

void Heap::remove_use(Block& block, StreamKey stream) noexcept {
  CAIRN_AUDIT(*this);
  std::vector<StreamKey>& uses = block.cold->stream_uses;
  uses.erase(std::lower_bound(uses.begin(), uses.end(), stream));
  if (uses.empty()) drop_cold_fields(block);
}

void Heap::drop_cold_fields(Block& block) noexcept {
  cold_fields_.erase(block.ptr);
  block.cold = nullptr;
}

void Heap::free_after_events(Block& block, std::int32_t event_count) noexcept {
  CAIRN_AUDIT(*this);
  CAIRN_HOLDS(event_count_not_negative, event_count > 0);
  Lane& lane = block.share->lane;
  lane.live.erase(block);
  block.allocated = false;
  block.event_count = event_count;
  if (block.cold != nullptr) drop_cold_fields(block);
  lane.ledger->freed(block.pool->kind, block.size);
}

bool Heap::knows(StreamKey stream) const {
  const auto has_segment = [&](const BlockPool& pool) {
    const StreamShare* share = pool.find_share(stream.id);
    return share != nullptr && share->segments != 0;
  };
  if (stream.device == device_ && std::any_of(pools_.begin(), pools_.end(), has_segment)) {
    return true;
  }
  return std::any_of(cold_fields_.begin(), cold_fields_.end(), [&](const auto& fields) {
    const std::vector<StreamKey>& uses = fields.second.stream_uses;
    return std::binary_search(uses.begin(), uses.end(), stream);
  });
}

void Heap::retire_stream(StreamKey stream, StreamId retired) noexcept {
  CAIRN_AUDIT(*this);
  if (stream.device == device_) rename_segments(stream.id, retired);
  for (auto& [address, fields] : cold_fields_) {
    std::vector<StreamKey>& uses = fields.stream_uses;
    const auto use = std::find(uses.begin(), uses.end(), stream);
    if (use == uses.end()) continue;
    use->id = retired;
    std::sort(uses.begin(), uses.end());
  }
}

void Heap::rename_segments(StreamId from, StreamId to) noexcept {
  for (BlockPool& pool : pools_) pool.rename_share(from, to);
  for (Lane& lane : lanes_) lane.forget_shares();
  for (auto& [address, segment] : segments_) {
    if (segment.stream != from) continue;
    segment.stream = to;
    for (Block* block = segment.first; block != nullptr; block = block->next) block->stream = to;
  }
}

bool Heap::may_be_in_use(StreamId stream) const {
  return std::any_of(pools_.begin(), pools_.end(), [&](const BlockPool& pool) {
    const StreamShare* share = pool.find_share(stream);
    return share != nullptr && share->may_be_in_use;
  });
}

void Heap::mark_idle(StreamId stream) noexcept {
  for (BlockPool& pool : pools_) {
    StreamShare* share = pool.find_share(stream);
    if (share != nullptr) share->may_be_in_use = false;
  }
}

}  // namespace cairn
