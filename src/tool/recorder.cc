#include "tool/recorder.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace cairn::tool {
namespace {

constexpr std::uint64_t checks_in_a_run = 16;

bool is_same(const BlockInfo& a, const BlockInfo& b) {
  return a.address == b.address && a.size_bytes == b.size_bytes && a.state == b.state &&
         a.requested_size_bytes == b.requested_size_bytes;
}
bool is_same_segment(const SegmentInfo& a, const SegmentInfo& b) {
  return a.device == b.device && a.address == b.address && a.size_bytes == b.size_bytes &&
         a.stream == b.stream && a.is_large == b.is_large;
}
std::uint64_t end_of(const BlockInfo& block) { return block.address + block.size_bytes; }

SegmentInfo without_blocks(const SegmentInfo& segment) {
  SegmentInfo bare = segment;
  bare.blocks.clear();
  return bare;
}

// As Heap::map() describes it.
BlockInfo describe(const Block& block) {
  BlockInfo info{block.ptr.value, block.size.count, 0, BlockState::inactive};
  if (block.is_free()) return info;
  info.requested_size_bytes = block.requested_size.count;
  info.state = block.allocated ? BlockState::active_allocated : BlockState::active_pending_free;
  return info;
}

std::vector<BlockInfo> blocks_at(const Heap& heap, Address address) {
  std::vector<BlockInfo> blocks;
  const Segment* const segment = heap.segment_at(address);
  for (const Block* block = segment->first; block != nullptr; block = block->next) {
    blocks.push_back(describe(*block));
  }
  return blocks;
}

// From two blocks with one address on: past the first ones of each that end at one address too.
struct Place {
  const std::vector<BlockInfo>& blocks;
  std::size_t at;
};
std::pair<std::size_t, std::size_t> common_end(Place old, Place now) {
  std::uint64_t old_end = end_of(old.blocks[old.at++]);
  std::uint64_t now_end = end_of(now.blocks[now.at++]);
  while (old_end != now_end) {
    if (old_end < now_end) {
      old_end = end_of(old.blocks[old.at++]);
    } else {
      now_end = end_of(now.blocks[now.at++]);
    }
  }
  return {old.at, now.at};
}

std::uint32_t mix(std::uint32_t digest, std::uint64_t number) {
  constexpr std::uint32_t prime = 16777619U;
  digest = (digest ^ static_cast<std::uint32_t>(number)) * prime;
  return (digest ^ static_cast<std::uint32_t>(number >> 32)) * prime;
}

}  // namespace

std::uint32_t digest(const BlockMap& map, std::uint32_t before) {
  std::uint32_t digest = before;
  for (const SegmentInfo& segment : map) {
    digest = mix(digest, static_cast<std::uint64_t>(segment.device));
    digest = mix(digest, segment.address);
    digest = mix(digest, segment.size_bytes);
    digest = mix(digest, segment.stream);
    digest = mix(digest, segment.is_large ? 1 : 0);
    for (const BlockInfo& block : segment.blocks) {
      digest = mix(digest, block.address);
      digest = mix(digest, block.size_bytes);
      digest = mix(digest, block.requested_size_bytes);
      digest = mix(digest, static_cast<std::uint64_t>(block.state));
    }
  }
  return digest;
}

Recorder::Recorder(AllDevices& devices, std::uint64_t operations)
    : devices_(devices), operations_(operations) {
  recording_.moments.reserve(operations + 1);
}

void Recorder::note(Address address, const std::vector<RecordedCall>& calls) {
  const bool is_start = recording_.moments.empty();
  Moment& moment = recording_.moments.emplace_back();
  moment.address = address;
  for (const RecordedCall& call : calls) moment.calls.push_back(call.call);
  if (is_start || !calls.empty()) {
    compare_all(moment.changes);
  } else if (address != Address{}) {
    compare_segment_of(address, moment.changes);
  }
  moment.totals = totals_;
  if (!free_sizes_.empty()) moment.totals.largest_free = *free_sizes_.rbegin();
  const std::uint64_t now = recording_.moments.size() - 1;
  const std::uint64_t step = std::max<std::uint64_t>(operations_ / checks_in_a_run, 1);
  if (now % step == 0 || now == operations_) check_now();
}

void Recorder::compare_all(std::vector<MapChange>& changes) {
  BlockMap now;
  for (DeviceIndex device = 0; device < devices_.device_count(); ++device) {
    BlockMap of_device = devices_.device(device).map();
    std::move(of_device.begin(), of_device.end(), std::back_inserter(now));
  }
  remove_those_not_in(now, changes);
  for (SegmentInfo& segment : now) {
    const auto known = segments_.find(segment.address);
    if (known == segments_.end()) {
      add(std::move(segment), changes);
    } else {
      retile(known->second, std::move(segment.blocks), changes);
    }
  }
}

void Recorder::remove_those_not_in(const BlockMap& now, std::vector<MapChange>& changes) {
  std::map<std::uint64_t, const SegmentInfo*> there;
  for (const SegmentInfo& segment : now) there.emplace(segment.address, &segment);
  for (auto known = segments_.begin(); known != segments_.end();) {
    const SegmentInfo& segment = known->second;
    const auto found = there.find(segment.address);
    if (found != there.end() && is_same_segment(*found->second, segment)) {
      ++known;
      continue;
    }
    for (const BlockInfo& block : segment.blocks) count_out(block);
    totals_.reserved -= segment.size_bytes;
    changes.push_back({MapChange::Kind::removed, without_blocks(segment)});
    known = segments_.erase(known);
  }
}

void Recorder::compare_segment_of(Address address, std::vector<MapChange>& changes) {
  SegmentInfo& known = std::prev(segments_.upper_bound(address.value))->second;
  const auto look = [address](const Heap& heap) { return blocks_at(heap, address); };
  retile(known, devices_.device(known.device).inspect(look), changes);
}

void Recorder::add(SegmentInfo segment, std::vector<MapChange>& changes) {
  for (const BlockInfo& block : segment.blocks) count_in(block);
  totals_.reserved += segment.size_bytes;
  changes.push_back({MapChange::Kind::added, segment});
  segments_.emplace(segment.address, std::move(segment));
}

void Recorder::retile(SegmentInfo& before, std::vector<BlockInfo> now,
                      std::vector<MapChange>& changes) {
  const std::vector<BlockInfo>& old = before.blocks;
  std::size_t i = 0;
  for (std::size_t j = 0; j < now.size();) {
    if (is_same(old[i], now[j])) {
      ++i;
      ++j;
      continue;
    }
    const auto [old_end, now_end] = common_end({old, i}, {now, j});
    MapChange change{MapChange::Kind::retiled, without_blocks(before)};
    for (; i < old_end; ++i) count_out(old[i]);
    for (; j < now_end; ++j) {
      count_in(now[j]);
      change.segment.blocks.push_back(now[j]);
    }
    changes.push_back(std::move(change));
  }
  before.blocks = std::move(now);
}

void Recorder::count_in(const BlockInfo& block) {
  if (block.state == BlockState::inactive) {
    free_sizes_.insert(block.size_bytes);
    return;
  }
  totals_.active += block.size_bytes;
  totals_.requested += block.requested_size_bytes;
  if (block.state == BlockState::active_allocated) totals_.allocated += block.size_bytes;
}

void Recorder::count_out(const BlockInfo& block) {
  if (block.state == BlockState::inactive) {
    free_sizes_.erase(free_sizes_.find(block.size_bytes));
    return;
  }
  totals_.active -= block.size_bytes;
  totals_.requested -= block.requested_size_bytes;
  if (block.state == BlockState::active_allocated) totals_.allocated -= block.size_bytes;
}

void Recorder::check_now() {
  std::uint32_t all = empty_digest;
  for (DeviceIndex device = 0; device < devices_.device_count(); ++device) {
    all = digest(devices_.device(device).map(), all);
  }
  recording_.checks.push_back({recording_.moments.size() - 1, all});
}

}  // namespace cairn::tool
