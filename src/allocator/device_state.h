// All that the allocator of one device knows, behind its lock.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <optional>

#include "allocator/event_pools.h"
#include "allocator/event_queues.h"
#include "base/units.h"
#include "cairn/options.h"
#include "driver/driver.h"
#include "heap/heap.h"

namespace cairn {

struct DeviceState {
  DeviceState(DeviceIndex device, const Options& options) : heap(device, options) {}

  // What a call of the driver gave; a sticky failure is remembered.
  template <class T>
  DriverResult<T> noted(DriverResult<T> result) {
    if (result.failed()) note(result.error());
    return result;
  }
  void note(CudaStatus failure) {
    if (!lost && is_sticky(failure)) lost = failure;
  }
  DeviceIndex device() const { return heap.device(); }
  // Whether an allocation need only search: no event is pending, no search counts.
  bool is_at_ease() const {
    return !lost.has_value() && queues.are_empty() && !heap.counts_searches();
  }
  // Held from the driver, or asked for.
  Bytes reserved() const { return heap.ledger().reserved() + asked; }

  Heap heap;
  EventPools pools;
  EventQueues queues;
  std::optional<CudaStatus> lost;  // The first sticky failure: no call is made any more.
  std::optional<Bytes> limit;      // Of reserved().
  Bytes rejected_above;            // Of reserved(), where PyTorch's early rejection is on.
  bool rejects = false;            // throw_on_cudamalloc_oom
  bool asks_unlocked = false;      // release_lock_on_cudamalloc
  Bytes asked;                     // By threads that wait for the driver without the lock.
  std::uint64_t streams_retired = 0;
};

}  // namespace cairn
