// The memory of small requests, or of large ones, shared out to streams: what is freed on a stream
// serves that stream alone.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.h"
#include "heap/free_index.h"

namespace cairn {

struct Lane;

// What one stream has in a pool.
struct StreamShare {
  StreamShare(Lane& lane_of_stream, FreeOrder order) : lane(lane_of_stream), index(order) {}

  Lane& lane;                // Of the stream that it was made for.
  std::size_t segments = 0;  // How many segments are its own.
  // Whether a block became free since the stream's work was last waited for: that work may still
  // use its memory.
  bool may_be_in_use = false;
  FreeIndex index;  // Its free blocks.
};

struct BlockPool {
  BlockPool(PoolKind pool_kind, FreeOrder order) : kind(pool_kind), order_(order) {}

  // The share of a stream, or null if it has none.
  StreamShare* find_share(StreamId stream) {
    const auto found = shares.find(stream);
    return found == shares.end() ? nullptr : &found->second;
  }
  const StreamShare* find_share(StreamId stream) const {
    const auto found = shares.find(stream);
    return found == shares.end() ? nullptr : &found->second;
  }
  // Throws std::bad_alloc, and then nothing has changed.
  StreamShare& make_share(StreamId stream, Lane& lane) {
    return shares.try_emplace(stream, lane, order_).first->second;
  }
  // REQUIRES: there is no share of `to`.
  void rename_share(StreamId from, StreamId to) noexcept {
    auto share = shares.extract(from);
    if (share.empty()) return;
    share.key() = to;
    shares.insert(std::move(share));
  }
  // Shares without a segment go: streams come and go by the thousand.
  void drop_empty_shares() {
    std::erase_if(shares, [](const auto& share) { return share.second.segments == 0; });
  }

  const PoolKind kind;
  std::map<StreamId, StreamShare> shares;  // In order of the stream's value.
  std::int64_t searches = 0;  // That counted: a free block's age is what was added since.

 private:
  const FreeOrder order_;
};

}  // namespace cairn
