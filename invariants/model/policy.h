// Where Cairn's way and PyTorch's part: the rows of the table in src/heap/README.md, each asked by
// its id. With pytorch_defects:True every answer is PyTorch's; V1 and V2 have none.
// Thread safety: as plain data.
#pragma once

#include <cstdint>

#include "base/ids.h"
#include "cairn/options.h"

namespace cairn::model {

class Policy {
 public:
  explicit Policy(const Options& options) : is_pytorch_(options.pytorch_defects) {}

  // V3: what became free by waiting for all events is searched.
  bool searches_after_waiting() const { return !is_pytorch_; }
  // V4: the cache is searched after all that is free was released.
  bool searches_after_release() const { return !is_pytorch_; }
  // V5: a stream's work is waited for before its memory goes back.
  bool waits_before_release() const { return !is_pytorch_; }
  // V6: whether `user` is the stream that the block stands on itself, and so no use of it.
  bool is_own(StreamKey own, StreamKey user) const {
    return is_pytorch_ ? own.id == user.id : own == user;
  }
  // V7: a stream may end, and its handle then name another.
  bool streams_end() const { return !is_pytorch_; }
  // V7: what the per-thread handle names in the thread of that number.
  StreamId per_thread_stream_of(std::uint64_t thread) const {
    return is_pytorch_ ? per_thread_handle : per_thread_stream(thread);
  }
  bool is_default(StreamId stream) const {
    return stream == legacy_default_stream || is_per_thread(stream) ||
           (is_pytorch_ && stream == per_thread_handle);
  }
  // V8: a new max_split_size shows in the statistics, and what is oversize is counted anew.
  bool recounts_oversize() const { return !is_pytorch_; }
  // V9: a use that no handle names now is fenced all the same.
  bool makes_good_for_dead_handles() const { return !is_pytorch_; }
  // V10: a use of what is not live is refused.
  bool refuses_uses_of_what_is_not_live() const { return !is_pytorch_; }

 private:
  static constexpr StreamId per_thread_handle{2};

  bool is_pytorch_ = false;
};

}  // namespace cairn::model
