// What an allocation does when no cached block fits: a rung at a time it makes room, searches
// again, and asks the driver for a segment, until one of them gives a block or there is nothing
// left to try. The rungs stand in retry_ladder.cc, in order; README.md says what each does.
//
// climb() goes up under the lock as far as it can. What is done without the lock (free-memory
// callbacks, and the driver's malloc if release_lock_on_cudamalloc is set) is act()'s, after which
// climb() goes on. So the lock is held by whoever calls climb(), and by nobody in act().
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "allocator/callbacks.h"
#include "allocator/fencing.h"
#include "base/result.h"
#include "base/units.h"
#include "cairn/errors.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

class RetryLadder {
 public:
  RetryLadder(const HeapRequest& request, Callbacks& callbacks)
      : request_(request), callbacks_(callbacks) {}

  // REQUIRES: the lock is held, !is_over(), the device is not lost at the first call. Throws
  // std::bad_alloc, and then no more has changed than that cached memory may have gone back to the
  // driver, or blocks that waited have become free.
  void climb(const DeviceContext& context);
  bool is_over() const { return result_.has_value(); }
  // REQUIRES: the lock is not held, !is_over().
  void act(DeviceIndex device, Driver& driver);
  // act() threw: what the driver was asked for does not come. REQUIRES: the lock is held.
  void withdraw(DeviceState& state) const noexcept { state.asked -= asked_; }

  // REQUIRES: is_over().
  Result<Address, Error>& result() { return *result_; }

 private:
  enum class Next { rung, act };
  using Rung = Next (RetryLadder::*)(const DeviceContext&);

  Next call_back(const DeviceContext& context);
  Next search_called_back(const DeviceContext& context);
  Next collect_garbage(const DeviceContext& context);
  Next ask(const DeviceContext& context);
  Next take_segment(const DeviceContext& context);
  Next release_oversize(const DeviceContext& context);
  Next wait_for_events(const DeviceContext& context);
  Next release_everything(const DeviceContext& context);
  Next ask_at_last(const DeviceContext& context);
  Next fail(const DeviceContext& context);
  static const Rung rungs[];

  Next over(Result<Address, Error> result);
  Next search(Heap& heap);
  Next search_if(bool searches, Heap& heap) { return searches ? search(heap) : Next::rung; }
  Next hand_out(const DeviceContext& context, Address segment);
  Next ask_again();

  const HeapRequest request_;
  Callbacks& callbacks_;
  std::size_t rung_ = 0;
  std::optional<Result<Address, Error>> result_;
  bool may_ask_ = true;      // There is reason to ask the driver (again).
  bool calls_back_ = false;  // What act() is to do: this, or else ask the driver.
  bool called_back_freed_ = false;
  std::string complaints_;  // Of callbacks that threw.
  Bytes asked_;             // For how much; 0 is nothing.
  std::optional<DriverResult<Address>> answer_;
};

}  // namespace cairn
