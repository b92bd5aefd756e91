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

// What one stream has in a pool.
struct StreamShare {
  explicit StreamShare(FreeOrder order) : index(order) {}

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
    if (last_share_ != nullptr && last_stream_ == stream) return last_share_;
    const auto found = shares.find(stream);
    if (found == shares.end()) return nullptr;
    last_stream_ = stream;
    last_share_ = &found->second;
    return last_share_;
  }
  const StreamShare* find_share(StreamId stream) const {
    const auto found = shares.find(stream);
    return found == shares.end() ? nullptr : &found->second;
  }
  // Throws std::bad_alloc, and then nothing has changed.
  StreamShare& make_share(StreamId stream) {
    return shares.try_emplace(stream, order_).first->second;
  }
  // REQUIRES: there is no share of `to`.
  void rename_share(StreamId from, StreamId to) noexcept {
    last_share_ = nullptr;
    auto share = shares.extract(from);
    if (share.empty()) return;
    share.key() = to;
    shares.insert(std::move(share));
  }
  // Shares without a segment go: streams come and go by the thousand.
  void drop_empty_shares() {
    last_share_ = nullptr;
    std::erase_if(shares, [](const auto& share) { return share.second.segments == 0; });
  }

  const PoolKind kind;
  std::map<StreamId, StreamShare> shares;  // In order of the stream's value.
  std::int64_t searches = 0;  // That counted: a free block's age is what was added since.

 private:
  const FreeOrder order_;
  StreamId last_stream_;  // Most requests name the stream of the one before.
  StreamShare* last_share_ = nullptr;
};

}  // namespace cairn
