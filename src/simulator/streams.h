// The streams of the simulated devices: which are there, and how work on them is ordered.
//
// A stream has a tail, the point that its next work comes after. Since the length of all work is
// known, so is the time at which it ends, and no queue is kept. The end of a stream is its tail
// and what CUDA's rule of the legacy default stream puts before its next work besides: for the
// legacy stream the tails of all blocking streams of its device's primary context, for a blocking
// stream the tail of the legacy one. Default streams of threads are blocking. Whatever looks at a
// stream (a kernel, an event, a wait, a synchronise) looks at its end.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "driver/driver.h"
#include "simulator/clock.h"
#include "simulator/contexts.h"
#include "simulator/host_view.h"
#include "simulator/stream_handles.h"

namespace cairn::simulator {

struct StreamOptions {
  DeviceIndex device = 0;
  bool is_blocking = false;  // Ordered with the legacy default stream.
  ContextHandle context{};
  std::optional<std::uint64_t> reuse_handle = std::nullopt;  // Of a stream that was destroyed.
};

// A kernel that was put on a stream.
struct Kernel {
  StreamNumber stream = StreamNumber::none;
  KernelNumber number = 0;
  Clock before;  // What it waits for, as far as the host has not seen it done.
  Ticks done_at = 0;
};

class Streams {
 public:
  Streams(std::size_t devices, HostView& host);

  // In the functions below devices exist, and the contexts and streams too.

  // ---- what is there ----

  // `context` is of the device. REQUIRES: `reuse_handle`, where given, is of a dead stream.
  std::uint64_t make(const StreamOptions& options, ContextHandle context);
  // Its work goes on. REQUIRES: the handle is of a stream that was made.
  void destroy(std::uint64_t handle, bool announced);
  // Of all streams that were made in the context.
  void destroy_all(ContextHandle context);
  void forget_announcement(std::uint64_t handle) { handles_.forget_announcement(handle); }
  // Which stream the handle names for the calling thread; none: no stream.
  StreamNumber find(StreamRef stream) const;
  const StreamHandles& handles() const { return handles_; }
  std::size_t device_count() const { return leftovers_.size(); }
  // "stream 3", "the legacy default stream of device 0".
  std::string describe(StreamNumber stream) const;
  // By its own handle.
  ContextHandle context_of(StreamNumber stream) const;

  // ---- how work is ordered ----

  // Something is put on the stream: what the legacy rule orders it after is before its tail now.
  const Point& enter(StreamNumber stream);
  // All later work on it comes after that point too.
  void wait(StreamNumber stream, const Point& point);
  Kernel launch(StreamNumber stream, Ticks now, Ticks ticks);
  // A stream that is none, or was forgotten, has nothing before its end.
  Point end_of(StreamNumber stream) const;
  // The end of all streams of the device's primary context, those that were destroyed too.
  Point end_of_device(DeviceIndex device) const;

  // Calls visit(number, tail) for each that is remembered, in no order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const auto& [number, stream] : streams_) visit(number, stream.tail);
  }

  // ---- what need not be remembered ----

  std::size_t size() const { return streams_.size(); }
  bool is_remembered(StreamNumber stream) const { return streams_.count(stream) != 0; }
  // Forgets destroyed streams, and idle default streams of threads, for which `is_needed` does not
  // hold.
  template <class Predicate>
  void forget(Predicate is_needed) {
    for (auto each = streams_.begin(); each != streams_.end();) {
      const bool is_over = !is_needed(each->first) && ends(each->first, each->second);
      each = is_over ? streams_.erase(each) : std::next(each);
    }
  }

 private:
  struct Stream {
    DeviceIndex device = 0;
    ContextHandle context;
    bool is_blocking = false;  // And of the primary context, so that the legacy stream is its own.
    bool is_destroyed = false;
    Point tail;
  };
  // What the streams left that are forgotten, of a device's primary context.
  struct Leftover {
    Point blocking;
    Point other;
  };

  static std::size_t index(DeviceIndex device) { return static_cast<std::size_t>(device); }
  // REQUIRES: it is a default stream.
  DeviceIndex device_of_default(StreamNumber stream) const;
  StreamNumber legacy_of(DeviceIndex device) const;
  StreamNumber per_thread_of(DeviceIndex device) const;
  // Whether it can be forgotten; then what it leaves is kept elsewhere.
  bool ends(StreamNumber number, Stream& stream);

  // REQUIRES: it was made and is not forgotten, or is a default stream.
  Stream& remembered(StreamNumber stream);
  Point end_of(StreamNumber number, const Stream& stream) const;

  HostView& host_;
  StreamHandles handles_;
  std::unordered_map<StreamNumber, Stream> streams_;
  std::vector<Leftover> leftovers_;  // By device.
  std::uint64_t made_ = 0;
  KernelNumber kernels_ = 0;
};

}  // namespace cairn::simulator
