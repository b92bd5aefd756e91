// Fencing uses: for each stream that uses a block (or that is to be forgotten) an event is recorded
// behind its work, or shared, or its work is waited for. All or nothing: events are in the queues
// once commit() was called, and back in their pools if it never is.
//
// The lock of the state is held. REQUIRES: the device is not lost when it begins.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "allocator/device_state.h"
#include "allocator/stream_directory.h"
#include "base/result.h"
#include "cairn/errors.h"

namespace cairn {

// What every operation of one device works with.
struct DeviceContext {
  DeviceState& state;
  Driver& driver;
  const StreamDirectory& streams;
};

class Fencing {
 public:
  explicit Fencing(const DeviceContext& context) : context_(context) {}
  Fencing(const Fencing&) = delete;
  Fencing& operator=(const Fencing&) = delete;
  ~Fencing();

  // Fences the work that is on the stream now; `block` is to wait for it, or null stands for the
  // fence of a stream that is to be retired. Throws std::bad_alloc.
  Result<Done, Error> fence(StreamKey stream, Block* block);

  // How many events there are to wait for.
  std::int32_t event_count() const { return event_count_; }
  // A fence of a stream stands in the queue of that stream, however it was recorded.
  void commit() noexcept;

 private:
  struct Taken {
    EventHome* home;
    EventHandle event;
  };

  Result<Done, Error> share(StreamKey retired, Block* block);
  // False: the driver does not know the stream.
  Result<bool, Error> fence_directly(StreamKey stream, StreamRef as, Block* block);
  Result<Done, Error> fence_context(StreamKey stream, Block* block);
  Result<Taken, Error> take_event(DeviceIndex device, ContextHandle context);
  // Whether it tells that the handle names no stream, and the whole context is fenced then.
  bool is_made_good(CudaStatus failure) const;
  void give_back_last() noexcept;
  void queue(StreamKey stream, const Taken& taken, Block* block);

  DeviceContext context_;
  std::vector<Taken> taken_;  // In order.
  EventQueues::Queues queues_;
  std::int32_t event_count_ = 0;
};

}  // namespace cairn
