// The memory of small requests, or of large ones, shared out to streams: what is freed on a stream
// serves that stream alone.
//
// Not thread-safe.
#pragma once

#include <cstddef>
#include <map>

#include "base/ids.h"
#include "heap/free_index.h"

namespace cairn {

struct BlockPool {
  // What one stream has in the pool.
  struct Share {
    explicit Share(FreeOrder order) : index(order) {}

    FreeIndex index;           // Its free blocks.
    std::size_t segments = 0;  // How many segments are its own.
  };

  BlockPool(PoolKind pool_kind, FreeOrder order) : kind(pool_kind), order_(order) {}

  // The share of a stream, or null if it has none.
  Share* find_share(StreamId stream) {
    if (last_share_ != nullptr && last_stream_ == stream) return last_share_;
    const auto found = shares.find(stream);
    if (found == shares.end()) return nullptr;
    last_stream_ = stream;
    last_share_ = &found->second;
    return last_share_;
  }
  const Share* find_share(StreamId stream) const {
    const auto found = shares.find(stream);
    return found == shares.end() ? nullptr : &found->second;
  }
  // Throws std::bad_alloc, and then nothing has changed.
  Share& make_share(StreamId stream) { return shares.try_emplace(stream, order_).first->second; }
  // Shares without a segment go: streams come and go by the thousand.
  void drop_empty_shares() {
    last_share_ = nullptr;
    std::erase_if(shares, [](const auto& share) { return share.second.segments == 0; });
  }

  const PoolKind kind;
  std::map<StreamId, Share> shares;  // In order of the stream's value.

 private:
  const FreeOrder order_;
  StreamId last_stream_;  // Most requests name the stream of the one before.
  Share* last_share_ = nullptr;
};

}  // namespace cairn
