// The free blocks of small requests, or of large ones, a FreeIndex for each stream: memory freed on
// a stream serves that stream alone.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "base/ids.h"
#include "heap/free_index.h"

namespace cairn {

struct BlockPool {
  BlockPool(PoolKind pool_kind, FreeOrder order) : kind(pool_kind), order_(order) {}

  // The index of a stream, or null if it never had memory here.
  FreeIndex* find_index(StreamId stream) const {
    if (last_index_ != nullptr && last_stream_ == stream) return last_index_;
    const auto found = indexes.find(stream);
    if (found == indexes.end()) return nullptr;
    last_stream_ = stream;
    last_index_ = found->second.get();
    return last_index_;
  }
  // Throws std::bad_alloc, and then nothing has changed.
  FreeIndex& make_index(StreamId stream) {
    auto& index = indexes[stream];
    if (!index) index = std::make_unique<FreeIndex>(order_);
    return *index;
  }

  const PoolKind kind;
  std::map<StreamId, std::unique_ptr<FreeIndex>> indexes;  // In order of the stream's value.

 private:
  const FreeOrder order_;
  mutable StreamId last_stream_;  // Most requests name the stream of the one before.
  mutable FreeIndex* last_index_ = nullptr;
};

}  // namespace cairn
